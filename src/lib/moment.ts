// Moments as they are told: ISO 8601 in UTC, with the six digits behind the seconds that PostgreSQL keeps, or with none where there
// is no fraction. Clients read them by a pattern of exactly six.

/** The digits behind the seconds of a moment, as six. */
export const withSixDigits = (moment: string): string =>
  moment.replace(/\.(\d+)/, (_, digits: string) => `.${digits.padEnd(6, '0').slice(0, 6)}`)

/** Now, as a message tells it. */
export const momentNow = (): string => withSixDigits(new Date().toISOString())

/** The text of a moment of PostgreSQL, in a session in UTC. */
export const momentFrom = (text: string): string =>
  withSixDigits(`${text.slice(0, 10)}T${text.slice(11).replace(/\+00$/, '')}Z`)
