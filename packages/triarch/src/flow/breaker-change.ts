import type { RaisedAlert } from '../kernel/alert.ts'
import type { BreakerMove, BreakerState } from '../policy/breaker.ts'

const what: Record<BreakerMove['to'], string> = {
  open: 'is open',
  'half-open': 'is half-open: its probes try the service',
  releasing: 'lets what waits go out in waves',
  closed: 'is closed',
}

/** What is told of a change of a breaker. `node`: the one that made it. */
export function breakerAlert(
  breaker: string,
  { to, reason }: BreakerMove,
  state: BreakerState,
  node?: string,
): RaisedAlert {
  const next = to !== 'open' || state.until === null ? '' : `; next probe at ${new Date(state.until).toISOString()}`
  const message = `the circuit breaker of ${breaker} ${what[to]}: ${reason}${next}`
  return { code: 'BREAKER_CHANGED', breaker, ...(node !== undefined && { node }), cause: to, message }
}
