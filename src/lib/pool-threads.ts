// The threads that Node has for calls of the system that wait, such as the syncs of files: 4, unless the environment says otherwise
// before the first is used. `main.ts` asks for more, because an import syncs files side by side.

/** Groups of files that an import has under way. */
export const GROUPS_AT_ONCE = 2
/** Files of a group that are synced side by side. */
export const SYNCS_AT_ONCE = 10
/** For other work: as many as Node has by itself. */
const OTHERS = 4

/** Asks for enough threads; a number that the environment has stays as it is. */
export function askPoolThreads(): void {
  process.env.UV_THREADPOOL_SIZE ??= String(GROUPS_AT_ONCE * SYNCS_AT_ONCE + OTHERS)
}
