// While another installation is being taken over, it is the master.
import type { Mutation } from './mutate.ts'

/**
 * For changes of the registers that leave no record: all others are refused as they are recorded.
 * @throws the fault `takeover_read_only` until the switch
 */
export async function refuseBeforeSwitch({ sql }: Mutation): Promise<void> {
  await sql`select require_switch()`
}
