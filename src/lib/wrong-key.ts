/** What is stored was sealed under another key than the one that this process was given by that name. */
export class WrongKey extends Error {
  /** @param name SECRET_KEY, or which key of DATA_KEYS */
  constructor(name = 'SECRET_KEY') {
    super(`${name} is not the key with which this database was written`)
  }
}

/** What is asked for is sealed with a key that this process does not have. The rest goes on. */
export class KeyMissing extends Error {
  readonly id: string
  constructor(id: string) {
    super(`what is sealed with the key ${id} cannot be read: this process does not have it`)
    this.id = id
  }
}
