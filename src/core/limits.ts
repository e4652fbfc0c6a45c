/**
 * What one request may cost. Every bound on the data of a request or an answer is written down here once; docs/security.md
 * (Bounds) says where each is enforced and which answer it gives.
 */
export const LIMITS = {
  /** JSON of a request, other than content of documents and imports. */
  bodyBytes: 1024 * 1024,
  /** The same of an applicatie, which may have thousands of rights. */
  applicatieBytes: 4 * 1024 * 1024,
  rights: 5000,
  /** Fields of a form without files. */
  formFields: 25_000,
  /** How deep values of a request stand within each other, and how many there are. */
  depth: 32,
  values: 100_000,
  /** JSON above this is parsed and validated in turn, one request at a time. */
  smallBytes: 32 * 1024,
  /** Members of a list, and characters of a text, where the schema says nothing smaller. */
  items: 1000,
  text: 20_000,
  /** Geometry of a case, as JSON. */
  geometrieBytes: 64 * 1024,
  /** What identifies an object or who is involved, as JSON. */
  identificatieBytes: 64 * 1024,
  /** Kanalen and filters of an abonnement, as JSON: a list has all abonnementen with theirs. */
  filtersBytes: 64 * 1024,
  /** A search by area: segments that are compared, and time for all of it. */
  segments: 50_000_000,
  areaMs: 10_000,
  /** uuid__in of a search. */
  uuids: 10_000,
  /** Requests of one `_batch`, resources that a filter in it answers, and all of them together. */
  batch: 100,
  batchItems: 100,
  batchResources: 1000,
  /** Names in `ordering`. */
  ordering: 10,
  /** Faults in one answer, which says so when there are more. */
  faults: 100,
  /** An answer up to this size is sent whole, a larger one as a stream. Characters of JSON. */
  wholeAnswerBytes: 1024 * 1024,
  /** The answer that is kept of a request with an Idempotency-Key, and such requests whose answer is not there yet of one client. */
  keptAnswer: 1024 * 1024,
  /** Rows of an unpaginated list that are read at first: nearly all such lists are shorter. */
  firstPortion: 200,
  /** Rows that are read at first where one may hold 64 kB of somebody's data: as values it takes ten times as much. */
  firstLarge: 5,
  /** Lines of an audit trail that are read at first: each holds its object twice. */
  firstLines: 5,
  /** Rows that are read at once for an answer that grows, as far as their size is known from the rows before. */
  portionBytes: 256 * 1024,
  portionRows: 500,
  /** Geometries of cases beyond 2 kB that are read at once for a page. */
  geometriesAtOnce: 8,
  /** Relations that are read together for `expand`, and resources that one expanded resource may hold in all. */
  expandedAtOnce: 2000,
  expanded: 5000,
  /** The same in bytes of memory, as near as it can be told: lists in lists take ten times as much as their JSON. */
  expandedBytes: 16 * 1024 * 1024,
  /** What hangs on one case of each kind: rollen, objects, eigenschappen, parts, related cases; and documents. */
  related: 5000,
  documenten: 10_000,
  /** Of each as many are named in a line of the audit trail, and read for an answer: more are written from the database. */
  recorded: 1000,
  /** Of those, and of the lists in a case itself, as many are read for a page at once; cases with more one by one. */
  relatedOnPage: 50,
  /** Statussen of one case, and documents of one status: a page has them within its rows. */
  statussen: 1000,
  /** Members of lists of cases that are read together for `expand`. */
  expandedMembers: 100_000,
  /** Answers that are written as a stream at the same time, in one process, of one client, and of an account of the pages. */
  streams: 100,
  streamsOfClient: 25,
  streamsOfAccount: 5,
  /** Documents beyond `wholeDownloadBytes` that are read at the same time, in one process, and those of one client. */
  downloads: 500,
  downloadsOfClient: 100,
  /** Documents up to this size are read whole and checked before anything is answered; so many at the same time. */
  wholeDownloadBytes: 1024 * 1024,
  wholeDownloads: 16,
  /** Files of imports that are being received at the same time, in one process, of one client, and of an account of the pages. */
  uploads: 50,
  uploadsOfClient: 10,
  uploadsOfAccount: 3,
  /** Pages that are kept up to date, and callbacks of one organisation that are tried out, at the same time in one process. */
  livePages: 500,
  callbacks: 20,
  /** Requests of one client that wait for their place at work. */
  waitingOfClient: 500,
  /** A question for which the database was waited for longer is costly, and those to the same route for so long after. */
  costlyMs: 40,
  costlyForMs: 2000,
  /** Questions of one request to other services, and the time after the first of them in which the last may begin. */
  questions: 1000,
  questionsMs: 30_000,
  /** How long the refusal of a token waits after too many. */
  refusalMs: 1000,
  /** From the first row of a streamed answer to the last. */
  streamMs: 15 * 60_000,
} as const
