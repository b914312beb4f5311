// What a task asked for, and what came after what. Pure: it runs in the worker.

/** Something that a task asked for, by its number in the task. */
export interface FlowNode {
  id: number
  kind: 'step' | 'child' | 'timer' | 'signal' | 'lock' | 'join'
  name: string
  /** As far as the history says it; what a step is now is known better by the list of steps. */
  state: string
  /** Names of the actions that planned it, the outermost first. */
  within: readonly string[]
  /** Of a child: its task. */
  task?: string
}

/** All of `to` come after all of `from`. */
export interface Bundle {
  from: readonly number[]
  to: readonly number[]
  /** It was over before, and nothing says that it was waited for. */
  isLoose: boolean
}

export interface Flow {
  nodes: FlowNode[]
  bundles: Bundle[]
}

export interface PlannedNode {
  id: number
  action: string | null
  name: string
  after: readonly number[]
  within: readonly string[]
  standing: string
}

/** What a record of the history says that a graph needs. */
export interface FlowRecord {
  seq: number
  events: readonly FlowEvent[]
}

export interface FlowEvent {
  type: string
  id?: number
  name?: string
  task?: string
  mode?: string
  outcome?: string
  step?: number
  returned?: string
  lock?: boolean
}

const standings: Readonly<Record<string, string>> = { open: 'running', done: 'success', skipped: 'skipped' }

/** The graph of a plan is in the plan. */
export function flowOfPlan(steps: readonly PlannedNode[]): Flow {
  const nodes = steps.map(({ id, action, name, within, standing }): FlowNode => {
    const kind = action !== null ? 'step' : name === 'join' ? 'join' : 'lock'
    return { id, kind, name, state: standings[standing] ?? 'waiting', within }
  })
  const byBefore = new Map<string, { from: readonly number[]; to: number[] }>()
  for (const { id, after } of steps) {
    if (after.length === 0) continue
    const key = after.join()
    const known = byBefore.get(key)
    if (known) known.to.push(id)
    else byBefore.set(key, { from: after, to: [id] })
  }
  return { nodes, bundles: [...byBefore.values()].map((it) => ({ ...it, isLoose: false })) }
}

interface Heard {
  node: FlowNode
  /** The record in which it was asked for, and its place among all events. */
  asked: number
  at: number
  /** The same of its end; null: it goes on. */
  over: number | null
  overAt: number | null
  after: readonly number[]
}

/**
 * What a function asked for comes after what it was told in that turn. What was over before, and led to nothing by itself, is loosely
 * before what was asked for next: who waits for several hears of the last one only.
 */
export function flowOfHistory(records: readonly FlowRecord[]): Flow {
  let heard = new Map<number, Heard>()
  let kept = new Map<string, number>()
  let told: readonly number[] = []
  let place = 0
  for (const { seq, events } of records) {
    let now: number[] = []
    for (const event of events) {
      place++
      const begin = (id: number, kind: FlowNode['kind'], name: string, state: string, task?: string) => {
        if (now.length > 0) told = now
        const node = { id, kind, name, state, within: [], ...(task !== undefined && { task }) }
        heard.set(id, { node, asked: seq, at: place, over: null, overAt: null, after: told.filter((it) => it !== id) })
      }
      const end = (id: number | undefined, state: string) => {
        const it = id === undefined ? undefined : heard.get(id)
        if (!it || it.over !== null) return
        it.node.state = state
        ;[it.over, it.overAt] = [seq, place]
        now = [...now, it.node.id]
      }
      const { type, id = 0, name = '', task } = event
      switch (type) {
        case 'stepRequested':
          begin(id, 'step', name, 'running')
          break
        case 'childStarted':
          begin(id, 'child', name, 'running', task)
          break
        case 'timerStarted':
          begin(id, 'timer', name, 'waiting')
          break
        case 'lockRequested':
          begin(id, 'lock', name, 'waiting')
          break
        case 'waitStarted': {
          begin(id, 'signal', name, 'waiting')
          // It had come before anybody asked for it.
          const count = kept.get(name) ?? 0
          if (count > 0) {
            kept.set(name, count - 1)
            end(id, 'success')
          }
          break
        }
        case 'signalReceived': {
          const waits = [...heard.values()].find(
            ({ node, over }) => node.kind === 'signal' && node.name === name && over === null,
          )
          if (waits) end(waits.node.id, 'success')
          else kept.set(name, (kept.get(name) ?? 0) + 1)
          break
        }
        case 'stepCompleted':
        case 'timerFired':
        case 'lockGranted':
          end(id, 'success')
          break
        case 'stepFailed':
        case 'lockRefused':
          end(id, 'error')
          break
        case 'stepSkipped':
        case 'waitTimedOut':
          end(id, 'skipped')
          break
        case 'waitCancelled':
          if (event.returned !== undefined) kept.set(event.returned, (kept.get(event.returned) ?? 0) + 1)
          end(id, 'cancelled')
          break
        case 'stepCancelled':
          end(id, 'cancelled')
          break
        case 'childStopped':
          end(id, event.outcome ?? 'success')
          break
        case 'stepRetried': {
          const it = heard.get(id)
          if (it) Object.assign(it, { over: null, overAt: null })
          break
        }
        case 'reset':
          if (event.step !== undefined) heard = rewound(heard, event.step)
          break
        case 'continuedAsNew':
          heard = new Map()
          kept = new Map()
          told = []
          now = []
          break
      }
    }
    if (now.length > 0) told = now
  }
  return { nodes: [...heard.values()].map(({ node }) => node), bundles: bundlesOf(heard) }
}

/** What came after the outcome of a step is void, and that outcome with it. */
function rewound(heard: Map<number, Heard>, step: number): Map<number, Heard> {
  const until = heard.get(step)?.overAt
  if (until === undefined || until === null) return heard
  const left = [...heard].filter(([, { at }]) => at <= until)
  for (const [, it] of left) {
    if (it.overAt === null || it.overAt < until) continue
    it.node.state = it.node.kind === 'step' || it.node.kind === 'child' ? 'running' : 'waiting'
    Object.assign(it, { over: null, overAt: null })
  }
  return new Map(left)
}

function bundlesOf(heard: ReadonlyMap<number, Heard>): Bundle[] {
  const groups = new Map<string, { from: readonly number[]; to: number[]; isLoose: boolean }>()
  const add = (from: readonly number[], to: number, isLoose: boolean) => {
    const there = from.filter((id) => heard.has(id))
    if (there.length === 0) return
    const key = `${isLoose} ${there.join()}`
    const known = groups.get(key)
    if (known) known.to.push(to)
    else groups.set(key, { from: there, to: [to], isLoose })
  }
  const led = new Set<number>()
  for (const { node, after } of heard.values()) {
    add(after, node.id, false)
    for (const id of after) led.add(id)
  }
  // In the order in which they were asked for: the first of each record that asked for something.
  const firsts: { record: number; id: number }[] = []
  for (const { node, asked } of heard.values())
    if (firsts.at(-1)?.record !== asked) firsts.push({ record: asked, id: node.id })
  const loose = new Map<number, number[]>()
  for (const { node, over } of heard.values()) {
    if (over === null || led.has(node.id) || node.state === 'cancelled') continue
    const next = firsts[after(firsts, over)]
    if (next) loose.set(next.id, [...(loose.get(next.id) ?? []), node.id])
  }
  for (const [to, from] of loose) add(from, to, true)
  return [...groups.values()]
}

/** The index of the first that was asked for in a record behind this one. */
function after(firsts: readonly { record: number }[], record: number): number {
  let [low, high] = [0, firsts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((firsts[middle]?.record ?? 0) > record) high = middle
    else low = middle + 1
  }
  return low
}
