// Which process dies when: drawn from the seed, and measured in orders placed, so that a slow machine sees the same.
import type { Fleet } from './fleet.ts'
import type { AgentKind } from './options.ts'
import { chance } from './services/faults.ts'
import type { AnyUnit } from './unit.ts'

export interface Blow {
  /** Once this many orders have been placed. */
  after: number
  kind: 'node' | 'web' | 'service' | 'agent'
  /** Which one of its kind. */
  index: number
  /** How long it stays down (ms). */
  downtime: number
}

/** Kills of nodes, spread over the whole run, and one each of the web process, of a service, and of an agent that is no node. */
export function plan({ orders, seed, agent }: { orders: number; seed: number; agent: AgentKind }): Blow[] {
  const blow = (kind: Blow['kind'], number: number, [from, to]: [number, number]): Blow => {
    const draw = (what: string) => chance(seed, 'chaos', kind, number, what)
    return {
      after: Math.floor(orders * (from + (to - from) * draw('after'))),
      kind,
      index: Math.floor(4 * draw('index')),
      downtime: Math.round(100 + 500 * draw('downtime')),
    }
  }
  const kills = Math.max(4, Math.round(orders / 30))
  const nodes = Array.from({ length: kills }, (_, n) => blow('node', n, [n / kills, (n + 1) / kills]))
  return [
    ...nodes,
    blow('web', 0, [0.1, 0.9]),
    blow('service', 0, [0.1, 0.9]),
    ...(agent === 'python' ? [blow('agent', 0, [0.3, 0.7])] : []),
  ]
}

/** Strikes whenever the number of orders placed, told to the function returned, says so. `struck`: it is dead. */
export function unleash(blows: Blow[], fleet: Fleet, struck: (unit: AnyUnit, pid: number | undefined) => void) {
  const waiting = [...blows]
  const strikes: Promise<void>[] = []
  return {
    placed(count: number) {
      const due = waiting.filter(({ after }) => after < count)
      for (const blow of due) {
        waiting.splice(waiting.indexOf(blow), 1)
        const unit = targetOf(blow, fleet)
        const strike = unit.kill(blow.downtime, (pid) => struck(unit, pid))
        strike.catch(() => undefined) // heard of in `done`
        strikes.push(strike)
      }
    },
    /** When everybody is up again. */
    done: () => Promise.all(strikes),
  }
}

function targetOf({ kind, index }: Blow, { nodes, services, web, agents }: Fleet): AnyUnit {
  const unit: AnyUnit | undefined = { web: [web], node: nodes, service: services, agent: agents }[kind].at(
    index % (kind === 'web' || kind === 'agent' ? 1 : 4),
  )
  if (!unit) throw new Error(`there is no ${kind} ${index}`)
  return unit
}
