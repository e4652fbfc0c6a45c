/** What the caller asked cannot be done: the program ends with exit code 64. */
export class UsageError extends Error {}
