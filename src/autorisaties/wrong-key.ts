/** Secrets were stored under another SECRET_KEY than the one that this process was given. */
export class WrongKey extends Error {
  constructor() {
    super('SECRET_KEY is not the key with which this database was written')
  }
}
