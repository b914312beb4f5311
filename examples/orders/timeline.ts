// One order's life, for people: what happened when, and in which process.
import { styleText } from 'node:util'
import type { ErrorRecord, HistoryEntry, HistoryEvent, Json } from 'triarch'
import type { Death, Testimony } from './witness.ts'

/** A line of the timeline. */
export interface Moment {
  /** Milliseconds since the order was taken. */
  after: number
  /** The process; '': it is not known. */
  where: string
  what: string
  /** What makes an order worth telling of. */
  kind?: 'death' | 'takeover' | 'doubt' | 'undo' | 'end'
}

export type Entry = Pick<HistoryEntry, 'at' | 'events'>

/** What is known of an order: its history, and what was seen from outside. */
export interface Life {
  order: string
  history: readonly Entry[]
  testimony: Testimony
}

/** All that is worth telling of an order, in the order of time. */
export function timeline({ order, history, testimony }: Life): Moment[] {
  const began = history[0]?.at.getTime() ?? 0
  const deaths = testimony.deaths.filter(({ orders }) => orders.includes(order))
  const owners = ownersOf(order, history, testimony)
  const steps = new Map<number, string>()
  const under = new Map<number, string>()
  const told: (Omit<Moment, 'after'> & { at: number })[] = []
  const ownerAt = (at: number) => owners.findLast((owner) => owner.at <= at)?.node
  const tell = (at: number, events: readonly HistoryEvent[]) => {
    for (const event of events) {
      if (event.type === 'stepRequested') steps.set(event.id, event.name)
      const moment = momentOf(event, 'id' in event ? (steps.get(Number(event.id)) ?? '') : '')
      const ran = 'node' in event ? (event.node ?? null) : null
      // Its answer had reached the store before it died; whoever has the order now finds it there.
      const isDead =
        ran !== null && testimony.deaths.some((one) => one.pid === testimony.processes[ran]?.pid && one.at < at)
      const isDone = event.type === 'stepCompleted' || event.type === 'undone'
      if (moment && isDead && isDone) moment.what += `, by ${processOf(ran, testimony)} before it died`
      const node = isDead ? ownerAt(at) : (ran ?? ownerAt(at))
      const where = event.type === 'submitted' ? 'web' : processOf(node, testimony)
      if (moment) told.push({ at, where, ...moment })
    }
  }
  // Who has it next is told before what it does; who dies, after what it did.
  const marks = [
    ...owners.slice(1).map(({ at, node }) => ({ at, node, death: null })),
    ...deaths.map((death) => ({ at: death.at, node: null, death })),
  ].sort((a, b) => a.at - b.at)
  const mark = ({ at, node, death }: (typeof marks)[number]) => {
    if (death) told.push({ at, where: nameOf(death), ...killed([...under.values()]) })
    else told.push({ at, where: processOf(node, testimony), what: 'took the order over', kind: 'takeover' })
  }
  for (const { at, events } of history) {
    while (marks[0] && marks[0].at <= at.getTime()) mark(marks.shift() as (typeof marks)[number])
    tell(at.getTime(), events)
    for (const event of events) follow(event, under)
  }
  for (const left of marks) mark(left)
  return told.map(({ at, ...moment }) => ({ after: at - began, ...moment }))
}

/**
 * Who had it, and from when on. The dead write no records: whoever was seen with it after a death had it by the first of them.
 * `sure`: nobody else can have written what came before he was seen.
 */
function ownersOf(order: string, history: readonly Entry[], { processes, ownerships, deaths }: Testimony) {
  const own = ownerships.filter((one) => one.order === order)
  return own.map(({ node, at }, index) => {
    const before = processes[own[index - 1]?.node ?? '']
    const death = deaths.findLast((one) => one.pid === before?.pid && one.at <= at)
    const first = history.find((record) => record.at.getTime() > (index === 0 ? 0 : (death?.at ?? at)))
    return { node, at: Math.min(at, first?.at.getTime() ?? at), sure: index === 0 || death !== undefined }
  })
}

/** Which steps are under way. */
function follow(event: HistoryEvent, under: Map<number, string>): void {
  if (event.type === 'stepRequested') under.set(event.id, event.name)
  else if (event.type === 'stepCompleted' || event.type === 'stepFailed' || event.type === 'stepSkipped')
    under.delete(event.id)
}

function killed(under: readonly string[]): Pick<Moment, 'what' | 'kind'> {
  const what = under.length === 0 ? '' : `, with ${under.join(' and ')} under way`
  return { what: `KILLED${what}`, kind: 'death' }
}

/** What an event means to somebody who does not know the engine; null: not worth a line. */
function momentOf(event: HistoryEvent, step: string): Pick<Moment, 'what' | 'kind'> | null {
  switch (event.type) {
    case 'submitted':
      return { what: `order taken: ${goods(event.input)}` }
    case 'started':
      return { what: 'began with it' }
    case 'stepCompleted': {
      if (event.by === 'verify') return { what: `asked the service: ${step} WAS done, not repeated`, kind: 'doubt' }
      return { what: `${step}: done${idIn(event.output)}${event.attempt > 1 ? ` (attempt ${event.attempt})` : ''}` }
    }
    case 'attemptFailed':
      return failure(event, step)
    case 'verified': {
      const what = event.answer === 'not-done' ? `${step} was NOT done: again` : 'it does not know either'
      return { what: `asked the service: ${what}`, kind: 'doubt' }
    }
    case 'stepFailed':
      return { what: `${step}: given up (${reason(event.error)})` }
    case 'stepSkipped':
      return { what: `${step}: left out` }
    case 'compensating':
      return { what: 'cannot be fulfilled: what was done is taken back', kind: 'undo' }
    case 'undone':
      return { what: `${step}: taken back`, kind: 'undo' }
    case 'paused':
      return { what: `paused: ${event.error ? reason(event.error) : event.cause}` }
    case 'resumed':
      return { what: 'goes on' }
    case 'stopped':
      return { what: ends[event.outcome] ?? event.outcome, kind: 'end' }
    default:
      return null
  }
}

const ends: { [outcome: string]: string } = {
  success: 'fulfilled',
  warning: 'fulfilled, though something was left out',
  compensated: 'undone as a whole',
  error: 'not fulfilled, and nothing was done',
}

function failure(
  { operation, error, lost, unknown, next }: HistoryEvent & { type: 'attemptFailed' },
  step: string,
): Pick<Moment, 'what' | 'kind'> {
  const again = next?.operation === operation ? ', again' : ''
  const died = lost === 'death'
  if (operation === 'verify')
    return {
      what: `asked the service about ${step}: ${died ? 'its process died' : reason(error)}${again}`,
      kind: 'doubt',
    }
  const work = operation === 'undo' ? `taking back ${step}` : step
  if (died) return { what: `${work}: its process died; done or not, nobody knows`, kind: 'doubt' }
  if (unknown) return { what: `${work}: ${reason(error)}; done or not, nobody knows`, kind: 'doubt' }
  return { what: `${work}: ${reason(error)}${again}` }
}

/** Why, without addresses and payloads. */
function reason({ message }: ErrorRecord): string {
  const status = /answered (\d+)/.exec(message)
  if (status) return `refused with ${status[1]}`
  return message
    .replace(/ (?:at|from) https?:\S+/, '')
    .replace(/https?:\S+ ?/g, '')
    .replace(/node [0-9a-f-]{36}/, 'process')
}

function goods(input: Json): string {
  const { item, total } = (input ?? {}) as { item?: Json; total?: Json }
  return typeof total === 'number' ? `a ${item} for ${(total / 100).toFixed(2)}` : 'something'
}

/** The id that a service gave to what it did. */
function idIn(output: Json): string {
  const entry = Object.entries((output ?? {}) as object).find(([name]) => name.endsWith('Id'))
  return entry ? `, ${entry[1]}` : ''
}

function processOf(node: string | null | undefined, { processes }: Testimony): string {
  if (!node) return ''
  const process = processes[node]
  return process ? nameOf(process) : `node ${node.slice(-4)}`
}

function nameOf({ name, pid }: Pick<Death, 'name' | 'pid'>): string {
  return `${name} (${pid})`
}

/** The order that shows most: killed in the middle, taken over, doubted, undone; null: no process died with one in its hands. */
export function mostTelling(lives: readonly Life[]): Life | null {
  const worth = (life: Life) => {
    const moments = timeline(life)
    const kinds = new Set(moments.map(({ kind }) => kind))
    const owners = ownersOf(life.order, life.history, life.testimony)
    const first = moments.findIndex(({ kind }) => kind === 'death')
    const before = moments.slice(0, first).some(({ what }) => what.includes(': done'))
    return (
      Number(owners.every(({ sure }) => sure)) * 200 +
      Number(kinds.has('takeover') && kinds.has('end')) * 100 +
      Number(before) * 20 +
      Number(kinds.has('undo')) * 10 +
      Number(kinds.has('doubt')) * 8 -
      Math.max(0, moments.length - 16)
    )
  }
  const killed = lives.filter(({ order, testimony }) => testimony.deaths.some(({ orders }) => orders.includes(order)))
  return killed.reduce<Life | null>((best, life) => (best && worth(best) >= worth(life) ? best : life), null)
}

const tones = { death: 'red', takeover: 'green', doubt: 'yellow', undo: 'magenta', end: 'bold' } as const
const WIDTH = 80

/** At most 80 columns, whatever the terminal: it is pasted into mails and issues. */
export function render(order: string, moments: readonly Moment[]): string {
  const width = Math.max(0, ...moments.map(({ where }) => where.length))
  const lines = moments.flatMap(({ after, where, what, kind }) => {
    const head = `${`+${(after / 1000).toFixed(2)} s`.padStart(9)}  ${where.padEnd(width)}  `
    return wrap(what, WIDTH - head.length).map((text, index) => {
      const styled = kind ? styleText(tones[kind], text) : text
      return `${index === 0 ? head : ' '.repeat(head.length)}${styled}`
    })
  })
  return [styleText('bold', order), ...lines].join('\n')
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
