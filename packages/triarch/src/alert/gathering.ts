import type { Quiet } from './quiet.ts'
import type { StoredPost } from './stored.ts'

/** What one sink is still to be told, and when. */
export interface Waiting {
  id: string
  /** Ms since the epoch. */
  dueAt: number
  said: StoredPost
}

/** One message. What it has taken in is dropped once it is stored so. */
export interface Message extends Waiting {
  taken: readonly string[]
}

/** What becomes of all that waits for one sink. */
export interface Gathered {
  /** Told now, in this order. */
  messages: readonly Message[]
  /** Waits for the end of quiet hours. */
  held: readonly Waiting[]
  /** Nobody needs to hear of it any more. */
  over: readonly string[]
}

export interface Means {
  now: number
  /** Whether what is of one rule is told together. */
  isGrouping: boolean
  /** Until then nobody looks again (ms since the epoch): what is due sooner is told now. */
  next: number
  /** When the sink's quiet hours are over (ms since the epoch), and what is told all the same; null: it is not quiet. */
  quiet: { until: number; except: Quiet['except'] } | null
  /** What an operator did meanwhile to alerts whose news was kept back, by their openings. */
  said: ReadonlyMap<string, 'silenced' | 'owned'>
}

/** Alerts that one message names with all that they say. */
const NAMED = 50
/** Subjects in the sentence of a group, and characters of each. */
const LISTED = 10
const CUT = 100

/** Looks through what waits for one sink: also at what is not due yet, for it may be told with what is. */
export function gathered(waiting: readonly Waiting[], { now, isGrouping, next, quiet, said: word }: Means): Gathered {
  const isHeld = ({ said: { severity } }: Waiting) => quiet !== null && severity !== quiet.except
  const until = quiet?.until ?? 0
  // Somebody stored them as one, and did not come to drop them.
  const taken = new Set(waiting.flatMap(({ said }) => said.taken ?? []))
  const own = waiting.filter(({ id }) => !taken.has(id))
  const held = own.filter((it) => isHeld(it) && it.dueAt < until)
  const free = own.filter((it) => !isHeld(it))
  const over = ended(free)
  for (const { id, said } of free.filter(isKept))
    if (said.news === 'repeated' && word.get(said.opening) === 'owned') over.add(id)
  const isSilent = (it: Waiting) => isKept(it) && word.get(it.said.opening) === 'silenced'
  const rest = free.filter((it) => !over.has(it.id) && !isSilent(it))
  const isFresh = ({ said: { tries, group } }: Waiting) => isGrouping && tries === 0 && !group
  const rules = Map.groupBy(rest.filter(isFresh), ({ said }) => said.rule)
  const ripe = [...rules.values()].filter((all) => all.some(({ dueAt }) => dueAt <= now || dueAt < next))
  const messages = [
    ...rest.filter((it) => !isFresh(it) && it.dueAt <= now).map((it) => ({ ...it, taken: [] })),
    ...ripe.flatMap(grouped),
  ]
  return {
    messages: messages.sort((a, b) => a.said.at - b.said.at),
    held: held.map(({ id, said }) => ({ id, dueAt: until, said: { ...said, held: true } })),
    over: [...over, ...taken],
  }
}

/** That it fires was kept back through quiet hours. */
export function isKept({ said: { held, tries, group, news } }: Waiting): boolean {
  return held === true && tries === 0 && !group && news !== 'ended'
}

/** Of what was kept back through quiet hours: what began and ended in them, and what was told again meanwhile. */
function ended(waiting: readonly Waiting[]): Set<string> {
  const over = new Set<string>()
  for (const all of Map.groupBy(waiting, ({ said }) => said.opening).values()) {
    const untold = all.filter(isKept)
    const raised = untold.find(({ said }) => said.news === 'raised')
    const isOver = all.some(({ said }) => said.news === 'ended')
    const repeats = untold.filter(({ said }) => said.news === 'repeated')
    if (raised && isOver) for (const { id } of all) over.add(id)
    else for (const { id } of raised || isOver ? repeats : repeats.slice(0, -1)) over.add(id)
  }
  return over
}

/** All of one rule, as few messages as say it in order: who is named by one already is the beginning of the next. */
function grouped(all: readonly Waiting[]): Message[] {
  const done: Message[] = []
  let open = new Map<string, Waiting[]>()
  let named = new Set<string>()
  const close = () => {
    done.push(...[...open.values()].map(messageOf))
    open = new Map()
    named = new Set()
  }
  for (const one of [...all].sort((a, b) => a.said.at - b.said.at)) {
    if (named.has(one.said.name)) close()
    named.add(one.said.name)
    open.set(one.said.news, [...(open.get(one.said.news) ?? []), one])
  }
  close()
  return done
}

function messageOf(all: readonly Waiting[]): Message {
  const [first, ...others] = all as [Waiting, ...Waiting[]]
  if (others.length === 0) return { ...first, taken: [] }
  const { rule } = first.said
  const taken = others.map(({ id }) => id)
  const listed = all.slice(0, LISTED).map(({ said }) => said.subject.slice(0, CUT))
  const more = all.length > LISTED ? ` and ${all.length - LISTED} more` : ''
  const alerts = all.slice(0, NAMED).map(({ said: { name, opening, subject, severity, message, since } }) => {
    return { name, opening, subject, severity, message, since }
  })
  const said: StoredPost = {
    ...{ ...first.said, name: `${rule}:*`, subject: '*', opening: first.id, taken },
    severity: all.some(({ said }) => said.severity === 'critical') ? 'critical' : 'warning',
    message: `${all.length} alerts of ${rule}: ${listed.join(', ')}${more}`,
    since: Math.min(...all.map(({ said }) => said.since)),
    group: { count: all.length, alerts },
  }
  return { id: first.id, dueAt: first.dueAt, said, taken }
}
