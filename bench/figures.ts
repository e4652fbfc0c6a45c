/** Prints a figure for the table of `npm run bench`. */
export function figure(what: string, value: string, aim?: string): void {
  console.log(`= ${what}: ${value}${aim === undefined ? '' : ` (aim ${aim})`}`)
}
