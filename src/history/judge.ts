// Judges a history from outside only: by what was asked, what was answered, and when. The words are those of Jepsen and of Elle
// (Kingsbury and Alvaro, 2020), which has them of Adya.
//
// Registers have to be linearizable. Since no value is written twice, that is decided exactly by the zones of Gibbons and Korach
// ("Testing Shared Memories", 1997): all operations of one value are a cluster; from the first that completed to the last that was
// invoked lies its zone. A zone that goes forward is a time during which the register had that value for certain, so two of them do not
// overlap, and none that goes backward lies within one that goes forward.
import type { Operation } from './operation.ts'

export type Anomaly = {
  anomaly: Name
  kind: Operation['kind']
  object: string
  /** What is wrong, in a sentence. */
  what: string
  /** The operations that show it. */
  operations: Operation[]
}
/** What each word means. */
export const ANOMALIES = {
  'aborted read': 'G1a: what was refused was done: it is read',
  'garbage read': 'what is read was never written',
  'stale read': 'a read misses what was acknowledged before it began',
  'non-monotonic read': 'a read misses what an earlier read had seen',
  'future read': 'a read sees what is only written later',
  'lost update': 'P4: what was acknowledged is overwritten by one who had not seen it, or is nowhere',
  'duplicate write': 'what was done once is there twice',
  'broken order': 'writes are recorded in another order than they were made',
  'moments go back': 'a line of an audit trail has a moment before that of the line above it',
  'lock held twice': 'two have a lock at once',
  'read without right': 'what a client has no right to see is shown to it',
} as const
type Name = keyof typeof ANOMALIES

/** All that is wrong with a history; none: it may be of a server that does one thing after the other. */
export function judge(history: readonly Operation[]): Anomaly[] {
  const objects = Object.groupBy(history, ({ kind, object }) => `${kind} ${object}`)
  return Object.values(objects).flatMap((operations) => JUDGES[operations![0]!.kind](operations!))
}

const JUDGES: Record<Operation['kind'], (operations: Operation[]) => Anomaly[]> = {
  register: judgeRegister,
  set: judgeSet,
  lock: judgeLock,
  secret: (operations) =>
    operations
      .filter(({ f, type }) => f === 'read' && type === 'ok')
      .map((one) => found('read without right', one, `${one.path} was answered ${one.status}`, [one])),
}

const found = (anomaly: Name, { kind, object }: Operation, what: string, operations: Operation[]): Anomaly => ({
  anomaly,
  kind,
  object,
  what,
  operations,
})
/** When it was done for certain: nobody knows of one that is `info`. */
const doneBy = ({ type, completed }: Operation): number => (type === 'ok' ? completed : Number.POSITIVE_INFINITY)

// ---- registers ----

type Cluster = { value: string; write: Operation; reads: Operation[]; first: number; last: number }

function judgeRegister(operations: Operation[]): Anomaly[] {
  const anomalies: Anomaly[] = []
  const writes = new Map(operations.filter(({ f }) => f === 'write').map((one) => [one.value, one]))
  const reads = operations.filter(({ f, type }) => f === 'read' && type === 'ok')
  const clusters = new Map<string, Cluster>()
  for (const write of writes.values()) {
    if (write.type === 'ok')
      clusters.set(write.value!, { value: write.value!, write, reads: [], first: write.completed, last: write.invoked })
  }
  for (const read of reads) {
    const write = writes.get(read.value)
    if (!write) anomalies.push(found('garbage read', read, `${read.value} was read, which nobody wrote`, [read]))
    else if (write.type === 'fail')
      anomalies.push(found('aborted read', read, `${read.value} was read, which was refused`, [write, read]))
    else if (read.completed < write.invoked)
      anomalies.push(found('future read', read, `${read.value} was read before it was written`, [write, read]))
    else {
      const { value } = read
      const cluster = clusters.get(value!) ?? {
        value: value!,
        write,
        reads: [],
        first: doneBy(write),
        last: write.invoked,
      }
      clusters.set(value!, cluster)
      cluster.reads.push(read)
      cluster.first = Math.min(cluster.first, read.completed)
      cluster.last = Math.max(cluster.last, read.invoked)
    }
  }
  return [
    ...anomalies,
    ...judgeZones([...clusters.values()]),
    ...judgeExpectations(operations),
    ...judgeTrails(operations, writes),
  ]
}

function judgeZones(clusters: Cluster[]): Anomaly[] {
  const anomalies: Anomaly[] = []
  const forward = clusters.filter(({ first, last }) => first < last).sort((a, b) => a.first - b.first)
  for (const [index, one] of forward.entries())
    for (const other of forward.slice(index + 1)) if (other.first < one.last) anomalies.push(between(one, other))
  for (const one of clusters.filter(({ first, last }) => first >= last)) {
    const around = forward.find((other) => other.first < one.last && one.first < other.last)
    if (around) anomalies.push(between(one, around))
  }
  return anomalies
}

/** Two values that the register had in turns: the reads that show it, and what they miss. */
function between(one: Cluster, other: Cluster): Anomaly {
  for (const [old, fresh] of [
    [one, other],
    [other, one],
  ] as const) {
    if (old.write.invoked > fresh.write.invoked) continue
    const stale = old.reads.find(
      ({ invoked }) => invoked > doneBy(fresh.write) && doneBy(old.write) < fresh.write.invoked,
    )
    if (stale)
      return found('stale read', stale, `${old.value} was read after ${fresh.value} was acknowledged`, [
        old.write,
        fresh.write,
        stale,
      ])
    for (const seen of fresh.reads) {
      const back = old.reads.find(({ invoked }) => invoked > seen.completed)
      if (back)
        return found('non-monotonic read', back, `${old.value} was read after ${fresh.value}`, [
          old.write,
          fresh.write,
          seen,
          back,
        ])
    }
  }
  const operations = [one.write, ...one.reads, other.write, ...other.reads]
  return found(
    'non-monotonic read',
    one.write,
    `no order of ${one.value} and ${other.value} explains what was read`,
    operations,
  )
}

/** Of all that name one version, one at most is done. */
function judgeExpectations(operations: Operation[]): Anomaly[] {
  const conditional = operations.filter(
    ({ f, expects, type }) => f === 'write' && expects !== undefined && type === 'ok',
  )
  return Object.values(Object.groupBy(conditional, ({ expects }) => expects!)).flatMap((same) =>
    same!.length > 1
      ? [found('lost update', same![0]!, `${same!.length} writes named the version ${same![0]!.expects}`, same!)]
      : [],
  )
}

function judgeTrails(operations: Operation[], writes: ReadonlyMap<string | null, Operation>): Anomaly[] {
  const anomalies: Anomaly[] = []
  for (const trail of operations.filter(({ f, type }) => f === 'trail' && type === 'ok')) {
    const { values = [], moments = [] } = trail
    const back = moments.findIndex((moment, index) => index > 0 && Date.parse(moment) < Date.parse(moments[index - 1]!))
    if (back > 0)
      anomalies.push(found('moments go back', trail, `${moments[back]} stands below ${moments[back - 1]}`, [trail]))
    const places = new Map<string, number>()
    for (const [place, value] of values.entries()) {
      const write = writes.get(value)
      if (places.has(value)) anomalies.push(found('duplicate write', trail, `${value} has two lines`, [trail]))
      else if (write?.type === 'fail')
        anomalies.push(found('aborted read', trail, `${value} has a line, and was refused`, [write, trail]))
      places.set(value, place)
    }
    const told = [...writes.values()].filter(({ type, completed }) => type === 'ok' && completed < trail.invoked)
    for (const write of told)
      if (!places.has(write.value!))
        anomalies.push(found('lost update', trail, `${write.value} was acknowledged, and has no line`, [write, trail]))
    const ordered = told
      .filter(({ value }) => places.has(value!))
      .sort((a, b) => places.get(a.value!)! - places.get(b.value!)!)
    let latest: Operation | undefined
    for (const write of ordered) {
      if (latest && write.completed < latest.invoked)
        anomalies.push(
          found('broken order', trail, `${write.value} was done before ${latest.value} began`, [write, latest, trail]),
        )
      if (!latest || write.invoked > latest.invoked) latest = write
    }
  }
  return anomalies
}

// ---- sets ----

function judgeSet(operations: Operation[]): Anomaly[] {
  const anomalies: Anomaly[] = []
  const lists = operations.filter(({ f, type }) => f === 'list' && type === 'ok').sort((a, b) => a.invoked - b.invoked)
  const adds = new Map(operations.filter(({ f }) => f === 'add').map((one) => [one.value!, one]))
  for (const list of lists) {
    const seen = new Set<string>()
    for (const value of list.values!) {
      if (seen.has(value))
        anomalies.push(
          found(
            'duplicate write',
            list,
            `${value} is there twice`,
            [adds.get(value), list].filter((one) => one !== undefined),
          ),
        )
      else if (!adds.has(value))
        anomalies.push(found('garbage read', list, `${value} is there, which nobody added`, [list]))
      seen.add(value)
    }
  }
  for (const [value, add] of adds) {
    const removes = operations.filter((one) => one.f === 'remove' && one.value === value && one.type !== 'fail')
    const gone = removes.filter(({ type }) => type === 'ok').sort((a, b) => a.completed - b.completed)[0]
    const mayGo = Math.min(...removes.map(({ invoked }) => invoked))
    let seen: Operation | undefined
    for (const list of lists) {
      const isThere = list.values!.includes(value)
      if (isThere) {
        if (add.type === 'fail')
          anomalies.push(found('aborted read', list, `${value} is there, and was refused`, [add, list]))
        else if (list.completed < add.invoked)
          anomalies.push(found('future read', list, `${value} was there before it was added`, [add, list]))
        else if (gone && gone.completed < list.invoked)
          anomalies.push(
            found('stale read', list, `${value} is there, and its removal was acknowledged`, [add, gone, list]),
          )
        if (!seen || list.completed < seen.completed) seen = list
      } else if (list.completed < mayGo) {
        if (doneBy(add) < list.invoked) {
          const comesBack = lists.some((later) => later.invoked > list.completed && later.values!.includes(value))
          anomalies.push(
            found(comesBack ? 'stale read' : 'lost update', list, `${value} was acknowledged, and is not there`, [
              add,
              list,
            ]),
          )
        } else if (seen && seen.completed < list.invoked)
          anomalies.push(
            found('non-monotonic read', list, `${value} was there, and is not any more`, [add, seen, list]),
          )
      }
    }
  }
  return anomalies
}

// ---- locks ----

/** Who repeats a lock that was given to him gets the same one: that is one lock. */
function judgeLock(operations: Operation[]): Anomaly[] {
  const given = operations
    .filter(({ f, type }) => f === 'lock' && type === 'ok')
    .sort((a, b) => a.completed - b.completed)
  const locks = given.filter(({ value }, place) => given.findIndex((one) => one.value === value) === place)
  return locks.slice(1).flatMap((lock, index) => {
    const earlier = locks.slice(0, index + 1)
    const isFree = ({ value }: Operation) =>
      operations.some(
        (one) => one.f === 'unlock' && one.value === value && one.type !== 'fail' && one.invoked < lock.completed,
      )
    const holder = earlier.find((one) => !isFree(one))
    return holder ? [found('lock held twice', lock, `${holder.value} was not given back`, [holder, lock])] : []
  })
}
