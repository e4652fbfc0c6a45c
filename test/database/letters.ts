/** A number below 17,576 as three letters: a domein has no digits. */
export const letters = (n: number) =>
  String.fromCharCode(65 + Math.floor(n / 676), 65 + (Math.floor(n / 26) % 26), 65 + (n % 26))
