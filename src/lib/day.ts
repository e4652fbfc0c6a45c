// The day, as people here have it: in the time zone that TIME_ZONE names. In SQL it is `today(zone)`.

let zone = 'Europe/Amsterdam'
let days = dayFormat(zone)

function dayFormat(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('sv-SE', { timeZone })
}

/** Sets the time zone of this process; done where the settings are read. @throws RangeError for one that does not exist */
export function useTimeZone(name: string): void {
  days = dayFormat(name)
  zone = name
}

/** Its name, as both Node and PostgreSQL know it. */
export const timeZone = (): string => zone

/** The day (`YYYY-MM-DD`) of a moment. */
export const dayOf = (moment: Date | string): string => days.format(new Date(moment))

/** The day that it is now, or will be in so many seconds. */
export const today = (ahead = 0): string => dayOf(new Date(Date.now() + ahead * 1000))
