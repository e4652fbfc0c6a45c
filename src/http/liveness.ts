/** Where it is told that the process lives; the second is where existing monitoring asks. */
export const LIVEZ = ['/livez', '/_healthz/livez/']
