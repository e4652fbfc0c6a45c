// The order in which rows were committed, without gaps. A number of a sequence is given out before its row is committed, so who reads
// on from the last number that it saw misses a row that commits later. Here a row has the number of its transaction (`xact`) as well,
// and is only read when every transaction up to that one has ended: nothing can come before it any more. A transaction that takes
// long, of whatever kind, holds what was committed after its beginning back.

/** SQL: whether no transaction that still goes on can write before a row of this transaction. */
export const isSettled = (xact: string): string => `${xact} < pg_snapshot_xmin(pg_current_snapshot())`
