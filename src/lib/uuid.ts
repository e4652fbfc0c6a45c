/** The pattern of a UUID, to build others with; letters in lower case. */
export const UUID_PATTERN = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

const UUID = new RegExp(`^${UUID_PATTERN}$`, 'i')

/** Whether the whole text is a UUID, in letters of either case. */
export const isUuid = (text: string): boolean => UUID.test(text)

/** The lowest uuid: every other comes after it. */
export const NIL = '00000000-0000-0000-0000-000000000000'
