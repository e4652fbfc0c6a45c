// Breaks of the feed of changes.
import type { Mutant } from '../mutant.ts'

const tests = ['test/feed/deltas.test.ts']

export const FEED: Mutant[] = [
  {
    what: 'who takes events as well as JSON gets JSON',
    file: 'src/http/header.ts',
    search: 'return weightOf(type) > weightOf(other)',
    replace: 'return weightOf(type) >= weightOf(other)',
    tests: ['test/feed/copy.test.ts'],
  },
  {
    what: 'a feed shows nothing that a transaction under way could come before',
    file: 'src/database/position.ts',
    search: '`${xact} < pg_snapshot_xmin(pg_current_snapshot())`',
    replace: '`${xact} < pg_snapshot_xmax(pg_current_snapshot())`',
    tests,
  },
  {
    what: 'a position in a feed is of the rights that it was given to',
    file: 'src/core/place.ts',
    search: "hash('sha256', `${epoch} ${rights}`",
    replace: "hash('sha256', `${epoch} ${rights.slice(0, 0)}`",
    tests,
  },
  {
    what: 'a position in a feed is of this database',
    file: 'src/feed/deltas.ts',
    search: 'f.cluster = current_cluster() as same',
    replace: 'true as same',
    tests: ['test/feed/restored.test.ts'],
  },
  {
    what: 'a mark beside the documents that is ahead begins another history',
    file: 'sql/0017-feed.sql',
    search: 'if known > before.mark or',
    replace: 'if',
    tests: ['test/nrc/abonnement/fetch.test.ts'],
  },
  {
    what: 'a position of fetched messages is of its history',
    file: 'src/nrc/abonnement/fetch.ts',
    search: 'if (from > place) throw new Rewound(key.epoch)',
    replace: 'if (from > place) throw expired()',
    tests: ['test/nrc/abonnement/fetch.test.ts'],
  },
  {
    what: 'a position in a feed from before what is kept is refused',
    file: 'src/feed/deltas.ts',
    search: 'if (xact === undefined || BigInt(xact) < BigInt(head.first)) throw expired()',
    replace: 'if (xact === undefined) throw expired()',
    tests,
  },
  {
    what: 'a feed tells of a delete only to whom the rights reached it',
    file: 'src/feed/tell.ts',
    search: "  if (type === 'delete') return wasReached ? told('delete', resource, uuid) : undefined\n",
    replace: "  if (type === 'delete') return told('delete', resource, uuid)\n",
    tests,
  },
  {
    what: 'what leaves the rights of a reader comes as a delete in its feed',
    file: 'src/feed/tell.ts',
    search: "  return moved && wasReached ? told('delete', resource, uuid) : undefined",
    replace: '  return undefined',
    tests,
  },
  {
    what: 'what hangs on a case leaves and enters rights with it in a feed',
    file: 'src/feed/tell.ts',
    search: '    const parts = isWhole ? partsOf(viewer, feed, operation.id) : []\n',
    replace: '    const parts = isWhole && comes && !comes ? partsOf(viewer, feed, operation.id) : []\n',
    tests,
  },
  {
    what: 'of a transaction that is told in parts, what hung on a case goes with it in each part',
    file: 'src/feed/tell.ts',
    search:
      '  if (isPart) for (const row of await goneElsewhere(viewer, feed, rows, gone)) gone.set(row.mainId, row)\n',
    replace: '',
    tests,
  },
  {
    what: 'each snapshot of a feed is sealed with a key of its own',
    file: 'src/feed/snapshots.ts',
    search: 'const key = randomBytes(KEY_BYTES)',
    replace: 'const key = Buffer.alloc(KEY_BYTES)',
    tests: ['test/feed/copy.test.ts'],
  },
  {
    what: 'a piece of a sealed file is opened from within its block',
    file: 'src/lib/sealed-bytes.ts',
    search: '  cipher.update(Buffer.alloc(position % BLOCK))\n',
    replace: '',
    tests: ['test/feed/copy.test.ts'],
  },
  {
    what: 'keys of snapshots are sealed with a new key too',
    file: 'src/operations/reseal.ts',
    search: "  { table: 'feed_snapshot', key: 'id', by: 'id', columns: ['sealed_key'], owner: snapshotOwner },\n",
    replace: '',
    tests: ['test/core/keys.test.ts'],
  },
]
