// Which fault strikes whom, when, for how long: drawn from the seed before anything runs, so that a run can be repeated.
import { Random } from '../../packages/triarch/test/crash/random.ts'
import { settings } from './settings.ts'

export type Group = 'web' | 'scheduler' | 'agent' | 'supervisor' | 'server' | 'remote'

export const kinds = [
  'kill web',
  'kill scheduler',
  'kill agent',
  'kill supervisor',
  'kill server',
  'kill remote',
  'freeze scheduler',
  'freeze agent',
  'freeze supervisor',
  'freeze server',
  'freeze remote',
  'drain scheduler',
  'drain agent',
  'drain server',
  'drain remote',
  'restart fast',
  'restart immediate',
  'terminate',
  'cut',
  'stall',
  'partition',
  'delay',
  'refuse',
  'cut remote',
  'stall remote',
  'partition remote',
  'deafen remote',
  'mute remote',
  'delay remote',
  'refuse remote',
  'swallow order',
  'swallow transition',
  'swallow claim',
  'swallow work',
  'swallow reply',
  'swallow any',
  'hold',
  'backup',
  'failover',
  'deploy',
  'step scheduler',
  'step agent',
  'step supervisor',
  'step remote',
  'step database',
  'poison code',
  'poison step',
  'poison replay',
  'poison child',
] as const
export type Kind = (typeof kinds)[number]

export interface Fault {
  /** Since the storm began (ms). */
  at: number
  kind: Kind
  /** Which member of its group, or whose connection; a draw in [0, 1). */
  target: number
  /** How long it goes on (ms). */
  lasts: number
  /** Milliseconds of latency, for a delay. */
  size: number
  /** The first of its kind: it strikes, however long it has to wait for its turn. */
  first: boolean
}

interface Span {
  from: number
  to: number
}

/** How long each kind goes on (ms). A freeze and a partition outlast the lease; a stall does not. */
const spans: Record<Kind, Span> = {
  'kill web': { from: 50, to: 400 },
  'kill scheduler': { from: 50, to: 600 },
  'kill agent': { from: 50, to: 600 },
  'kill supervisor': { from: 50, to: 600 },
  'kill server': { from: 50, to: 600 },
  'kill remote': { from: 50, to: 600 },
  'freeze scheduler': { from: settings.lease * 1.1, to: settings.lease * 1.6 },
  'freeze agent': { from: settings.lease * 1.1, to: settings.lease * 1.6 },
  'freeze supervisor': { from: settings.lease * 1.1, to: settings.lease * 1.6 },
  'freeze server': { from: settings.lease * 1.1, to: settings.lease * 1.6 },
  'freeze remote': { from: settings.lease * 1.1, to: settings.lease * 1.6 },
  'drain scheduler': { from: 50, to: 300 },
  'drain agent': { from: 50, to: 300 },
  'drain server': { from: 50, to: 300 },
  'drain remote': { from: 50, to: 300 },
  'restart fast': { from: 50, to: 600 },
  'restart immediate': { from: 50, to: 600 },
  terminate: { from: 0, to: 1 },
  cut: { from: 0, to: 1 },
  stall: { from: 200, to: settings.lease * 0.8 },
  partition: { from: settings.lease * 1.1, to: settings.lease * 1.6 },
  delay: { from: 300, to: 1_200 },
  refuse: { from: 100, to: 800 },
  'cut remote': { from: 0, to: 1 },
  'stall remote': { from: 200, to: settings.lease * 0.8 },
  'partition remote': { from: settings.lease * 1.1, to: settings.lease * 1.6 },
  // One direction alone: what is said to it, or what it says, does not arrive.
  'deafen remote': { from: settings.lease * 0.5, to: settings.lease * 1.6 },
  'mute remote': { from: settings.lease * 0.5, to: settings.lease * 1.6 },
  'delay remote': { from: 300, to: 1_200 },
  'refuse remote': { from: 100, to: 800 },
  // At most: it is over as soon as there was something to swallow.
  'swallow order': { from: 1_000, to: 1_001 },
  'swallow transition': { from: 1_000, to: 1_001 },
  'swallow claim': { from: 1_000, to: 1_001 },
  'swallow work': { from: 1_000, to: 1_001 },
  'swallow reply': { from: 1_000, to: 1_001 },
  'swallow any': { from: 1_000, to: 1_001 },
  // Long beside everything else: patience, leases, complete-bys.
  hold: { from: 10_000, to: 12_000 },
  backup: { from: 10_000, to: 12_000 },
  // About: a copy is made, it follows, is cut off, and takes over.
  failover: { from: 8_000, to: 8_001 },
  // About: each process is asked to stop, and followed by another, after the one before.
  deploy: { from: 15_000, to: 15_001 },
  'step scheduler': { from: 500, to: 2_000 },
  'step agent': { from: 500, to: 2_000 },
  'step supervisor': { from: 500, to: 2_000 },
  'step remote': { from: 500, to: 2_000 },
  'step database': { from: 0, to: 1 },
  'poison code': { from: 0, to: 1 },
  'poison step': { from: 0, to: 1 },
  'poison replay': { from: 0, to: 1 },
  'poison child': { from: 0, to: 1 },
}

/** What strikes side by side; within a lane one fault comes after the other. */
const all: { kinds: readonly Kind[]; gap: Span }[] = [
  { kinds: ['kill scheduler', 'freeze agent', 'kill supervisor', 'drain scheduler'], gap: { from: 50, to: 900 } },
  {
    kinds: ['kill agent', 'freeze scheduler', 'kill web', 'freeze supervisor', 'drain agent'],
    gap: { from: 50, to: 900 },
  },
  { kinds: ['cut', 'stall', 'delay', 'refuse', 'partition'], gap: { from: 50, to: 700 } },
  // Servers and the agents that have nothing but their URLs.
  {
    kinds: ['kill server', 'freeze remote', 'drain server', 'kill remote', 'freeze server', 'drain remote'],
    gap: { from: 200, to: 1_500 },
  },
  {
    kinds: [
      ...(['cut remote', 'stall remote', 'partition remote', 'deafen remote', 'mute remote'] as const),
      ...(['delay remote', 'refuse remote'] as const),
    ],
    gap: { from: 50, to: 900 },
  },
  // One after the other: a restart ends every transaction that is held open.
  {
    kinds: ['restart fast', 'restart immediate', 'terminate', 'hold', 'backup', 'failover'],
    gap: { from: 1_000, to: 3_000 },
  },
  {
    kinds: ['swallow order', 'swallow transition', 'swallow claim', 'swallow work', 'swallow reply', 'swallow any'],
    gap: { from: 50, to: 400 },
  },
  {
    kinds: ['step scheduler', 'step agent', 'step supervisor', 'step remote', 'step database', 'deploy'],
    gap: { from: 500, to: 3_000 },
  },
  {
    kinds: ['poison code', 'poison step', 'poison replay', 'poison child'],
    gap: { from: 2_000, to: 8_000 },
  },
]

/** The kinds that strike unless others are asked for. */
export const usual: readonly Kind[] = kinds

function lanesOf(chosen: readonly Kind[]) {
  return all.map(({ kinds, gap }) => ({ kinds: kinds.filter((kind) => chosen.includes(kind)), gap }))
}

/** The shortest storm that has room for each of these kinds, whatever the seed (ms). */
export function shortest(chosen: readonly Kind[]): number {
  return Math.max(
    ...lanesOf(chosen).map(({ kinds, gap }) => kinds.reduce((sum, kind) => sum + gap.to + spans[kind].to, 0)),
  )
}

export const SHORTEST: number = shortest(usual)

export interface Weather {
  seed: number
  duration: number
  /** What strikes. */
  kinds?: readonly Kind[]
}

/** Each lane has each of its kinds once, in an order of the seed's; what comes then is by chance. */
export function plan({ seed, duration, kinds: chosen = usual }: Weather): Fault[] {
  const faults = lanesOf(chosen).flatMap(({ kinds, gap }, lane) => {
    if (kinds.length === 0) return []
    const random = new Random(seed * 16 + lane)
    const between = ({ from, to }: Span) => from + random.below(Math.ceil(to - from))
    const due = shuffled(kinds, random)
    const own: Fault[] = []
    for (let at = between(gap); at < duration; ) {
      const first = due.length > 0
      const kind = due.shift() ?? random.pick(kinds) ?? 'cut'
      const lasts = between(spans[kind])
      own.push({ at, kind, target: random.below(1_000) / 1_000, lasts, size: 5 + random.below(120), first })
      at += lasts + between(gap)
    }
    return own
  })
  return faults.sort((a, b) => a.at - b.at)
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const left = [...list]
  const order: T[] = []
  while (left.length > 0) order.push(...left.splice(random.below(left.length), 1))
  return order
}
