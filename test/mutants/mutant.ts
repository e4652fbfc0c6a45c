/**
 * A deliberate break: what it takes away, where, and the test files that have to notice. A condition that never holds is
 * written as `Math.random() > 2`, so that the code stays valid for the runtime.
 */
export type Mutant = { what: string; file: string; search: string; replace: string; tests: string[] }
