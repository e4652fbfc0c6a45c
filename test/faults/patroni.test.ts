// Slow: the leader of three servers is lost.
// The quickest strike of the cell `patroni` of `npm run faults`: the others wait until a key in etcd ends, which takes 20 seconds each.
// It starts three servers with Patroni, the program and etcd.
import t from 'tap'
import { playPatroni } from './patroni.ts'
import { noPatroni } from './patroni-cluster.ts'

t.setTimeout(300_000)
t.test(
  'when Patroni replaces its leader, what was acknowledged is there and every message is delivered',
  { skip: noPatroni, timeout: 300_000 },
  (t) => playPatroni(t, t, { strikes: ['PostgreSQL of the leader is killed'], random: Math.random }),
)
