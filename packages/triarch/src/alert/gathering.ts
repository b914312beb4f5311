import type { Quiet } from './quiet.ts'
import type { StoredPost } from './stored.ts'

/** A notification that waits for one sink. */
export interface PendingNotification {
  id: string
  /** When it is due (ms since the epoch). */
  dueAt: number
  said: StoredPost
}

/** A message to send. The notifications that it contains are deleted once it is stored. */
export interface AlertMessage extends PendingNotification {
  taken: readonly string[]
}

/** The decision about all notifications that wait for one sink. */
export interface Gathered {
  /** To be sent now, in this order. */
  messages: readonly AlertMessage[]
  /** Held until the end of quiet hours. */
  held: readonly PendingNotification[]
  /** Ids of notifications that are not needed any more. */
  over: readonly string[]
}

export interface GatheringOptions {
  now: number
  /** Whether notifications of one rule are combined. */
  isGrouping: boolean
  /** The time of the next check (ms since the epoch); what is due before it is sent now. */
  next: number
  /** The end of the sink's quiet hours (ms since the epoch), and the severity that is sent all the same; null: there are none now. */
  quiet: { until: number; except: Quiet['except'] } | null
  /** Operators' actions on alerts whose notification was held back, by opening. */
  said: ReadonlyMap<string, 'silenced' | 'owned'>
}

/** Number of alerts that one message lists in full. */
const NAMED = 50
/** Number of subjects in the sentence of a group, and largest length of each. */
const LISTED = 10
const CUT = 100

/** Decides about the notifications of one sink, including those that are not due yet, because they may be combined with due ones. */
export function gathered(
  waiting: readonly PendingNotification[],
  { now, isGrouping, next, quiet, said: word }: GatheringOptions,
): Gathered {
  const isHeld = ({ said: { severity } }: PendingNotification) => quiet !== null && severity !== quiet.except
  const until = quiet?.until ?? 0
  // Notifications that a stored message contains, and that were not deleted because of a crash.
  const taken = new Set(waiting.flatMap(({ said }) => said.taken ?? []))
  const own = waiting.filter(({ id }) => !taken.has(id))
  const held = own.filter((it) => isHeld(it) && it.dueAt < until)
  const free = own.filter((it) => !isHeld(it))
  const over = ended(free)
  for (const { id, said } of free.filter(isKept))
    if (said.news === 'repeated' && word.get(said.opening) === 'owned') over.add(id)
  const isSilent = (it: PendingNotification) => isKept(it) && word.get(it.said.opening) === 'silenced'
  const rest = free.filter((it) => !over.has(it.id) && !isSilent(it))
  const isFresh = ({ said: { tries, group } }: PendingNotification) => isGrouping && tries === 0 && !group
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

/** Whether the notification that an alert fires was held back by quiet hours. */
export function isKept({ said: { held, tries, group, news } }: PendingNotification): boolean {
  return held === true && tries === 0 && !group && news !== 'ended'
}

/** Notifications held back by quiet hours that are obsolete: of alerts that began and ended meanwhile, and repetitions. */
function ended(waiting: readonly PendingNotification[]): Set<string> {
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

/**
 * Combines the notifications of one rule into as few messages as possible, in order: an alert that the current messages name already begins
 * new ones.
 */
function grouped(all: readonly PendingNotification[]): AlertMessage[] {
  const done: AlertMessage[] = []
  let open = new Map<string, PendingNotification[]>()
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

function messageOf(all: readonly PendingNotification[]): AlertMessage {
  const [first, ...others] = all as [PendingNotification, ...PendingNotification[]]
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
