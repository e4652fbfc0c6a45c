import { Unavailable } from './problem.ts'

/** Secrets were stored under another SECRET_KEY than the one that this process was given. */
export class WrongKey extends Unavailable {
  constructor() {
    super('SECRET_KEY is not the key with which this database was written')
  }
}
