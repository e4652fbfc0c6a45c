/** The address of a database for a connection of the tests themselves, which finds the tables and the queue as the program does. */
export const withPath = (url: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}search_path=zaakstroom,zaakstroom_queue`
