import { advance } from '../kernel/plan/advance.ts'
import type { Turn } from '../kernel/turn.ts'
import type { Driver } from './driver.ts'
import { needsCode } from './rest.ts'

/** Nobody here has the task's code: controls and a plan that is made already can do without. */
export const absent: Driver = {
  begins: 'none',
  urgent: false,
  replay: () => Promise.resolve(),
  begin: () => false,
  tell: nobodyHears,
  advance,
  code: () => undefined,
  isStranded: needsCode,
}

/** No code is told anything. */
export function nobodyHears(turn: Turn): boolean {
  turn.deliveries.length = 0
  return false
}
