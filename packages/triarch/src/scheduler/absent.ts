import { advance } from '../kernel/plan/advance.ts'
import type { Driver } from './driver.ts'
import { needsCode } from './rest.ts'

/** The driver on a node without the task's code. Control messages, and plans already made, need none. */
export const absent: Driver = {
  begins: 'none',
  urgent: false,
  replay: () => Promise.resolve(),
  begin: () => false,
  // Outcomes are discarded: there is no code to deliver them to.
  tell(turn) {
    turn.deliveries.length = 0
    return false
  },
  advance,
  code: () => undefined,
  isStranded: needsCode,
}
