import { advance } from '../kernel/plan/advance.ts'
import type { Driver } from './driver.ts'
import { needsCode } from './rest.ts'

/** Nobody here has the task's code: controls and a plan that is made already can do without. */
export const absent: Driver = {
  begins: 'none',
  urgent: false,
  replay: () => Promise.resolve(),
  begin: () => false,
  // No code is told anything.
  tell(turn) {
    turn.deliveries.length = 0
    return false
  },
  advance,
  code: () => undefined,
  isStranded: needsCode,
}
