import type { Environment, Timer } from '../environment/environment.ts'
import { Register } from '../environment/register.ts'
import { TriarchError } from '../error/error.ts'
import type { StateStore } from './port.ts'

/** How long an answer is waited for where the store does not say (ms). */
export const LONGEST_ANSWER = 60_000
/** In that time it is looked so often for what is outstanding. A process that stood still has looked once, and gives up nothing. */
const LOOKS = 4

/** Calls whose length is somebody else's: a migration, users' own code and transactions; and those that give no promise. */
type Unbounded =
  | ('open' | 'close' | 'migrate' | 'transact' | 'submitIn' | 'keepAlive' | 'watch' | 'attend' | 'vitals')
  | ('paced' | 'patience' | 'commitsAtOnce' | 'unanswered')
type Bounded = Exclude<keyof StateStore, Unbounded>

const unbounded: Readonly<Record<Unbounded, true>> = {
  open: true,
  close: true,
  migrate: true,
  transact: true,
  submitIn: true,
  keepAlive: true,
  watch: true,
  attend: true,
  vitals: true,
  paced: true,
  patience: true,
  commitsAtOnce: true,
  unanswered: true,
}

const bounded: Readonly<Record<Bounded, true>> = {
  now: true,
  commit: true,
  submit: true,
  importTask: true,
  effect: true,
  post: true,
  claim: true,
  look: true,
  nextWake: true,
  inbox: true,
  letters: true,
  quarantine: true,
  lift: true,
  acquit: true,
  terminate: true,
  cut: true,
  takeWork: true,
  seats: true,
  heads: true,
  adoptWork: true,
  reply: true,
  beatWork: true,
  beat: true,
  leave: true,
  lead: true,
  pulses: true,
  bury: true,
  sweep: true,
  prune: true,
  follow: true,
  tally: true,
  tallies: true,
  recount: true,
  schedules: true,
  writeSchedule: true,
  dropSchedule: true,
  breakers: true,
  writeBreaker: true,
  recall: true,
  remember: true,
  fly: true,
  land: true,
  invalidate: true,
  invalidated: true,
  forget: true,
  leaders: true,
  elect: true,
  resign: true,
  writeLogs: true,
  logs: true,
  settings: true,
  writeSetting: true,
  settingChanges: true,
  alerts: true,
  writeAlert: true,
  alertPosts: true,
  settleAlertPost: true,
  keys: true,
  keyMark: true,
  writeKey: true,
  secrets: true,
  writeSecret: true,
  useKeys: true,
  probes: true,
  writeProbes: true,
  writeAudit: true,
  audit: true,
  trimAudit: true,
  task: true,
  marks: true,
  records: true,
  replay: true,
  list: true,
  lost: true,
  owned: true,
  nodes: true,
  queued: true,
  parked: true,
  locks: true,
  held: true,
  queues: true,
  backlogs: true,
  waiting: true,
  counts: true,
  changes: true,
}

/** The names of all that a store has. */
const CALLS: readonly (keyof StateStore)[] = [
  ...(Object.keys(bounded) as Bounded[]),
  ...(Object.keys(unbounded) as Unbounded[]),
]

/** All that the store has, in an object of its own: who stands around a store begins with that, and says what is different. */
export function callsOf(store: StateStore): StateStore {
  // The compiler cannot see that each name fits the method of the same name.
  const methods = store as unknown as Record<string, unknown>
  const own = CALLS.flatMap((name) => {
    const member = methods[name]
    if (member === undefined) return []
    return [[name, typeof member === 'function' ? member.bind(store) : member]]
  })
  return Object.fromEntries(own) as unknown as StateStore
}

interface Outstanding {
  call: string
  looks: number
  reject: (error: Error) => void
}

/**
 * The store, with a bound for each of its answers: a call that gets none is rejected with STORE_UNANSWERED, though it may have
 * been done, or be done yet. One timer looks at all that is outstanding, and only while something is. `unanswered`: told of each.
 */
export function withDeadline(store: StateStore, environment: Environment, unanswered: () => void): StateStore {
  const patience = store.patience ?? LONGEST_ANSWER
  const outstanding = new Register<number, Outstanding>()
  let calls = 0
  let timer: Timer | null = null
  const look = () => {
    timer = null
    for (const [id, one] of outstanding) {
      if (++one.looks <= LOOKS) continue
      outstanding.delete(id)
      const { call, reject } = one
      reject(new TriarchError('STORE_UNANSWERED', `the store gave no answer to ${call} within ${patience} ms`))
      store.unanswered?.(call)
      unanswered()
    }
    if (outstanding.size > 0) arm()
  }
  const arm = () => {
    timer = environment.timer(patience / LOOKS, look)
    timer.unref?.()
  }
  // The compiler cannot see that the arguments of a name fit the method of the same name.
  const methods = store as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
  const wait = (call: string, args: unknown[]) =>
    new Promise((resolve, reject) => {
      const id = ++calls
      const answer = Promise.resolve(methods[call]?.(...args))
      outstanding.set(id, { call, looks: 0, reject })
      if (timer === null) arm()
      answer.then(
        (value) => {
          outstanding.delete(id)
          resolve(value)
        },
        (error) => {
          outstanding.delete(id)
          reject(error)
        },
      )
    })
  const waiting = Object.keys(bounded).map((call) => [call, (...args: unknown[]) => wait(call, args)])
  const others = Object.keys(unbounded).flatMap((name) => {
    const own = methods[name]
    return own === undefined
      ? []
      : [[name, typeof own === 'function' ? (...args: unknown[]) => methods[name]?.(...args) : own]]
  })
  return Object.fromEntries([...waiting, ...others]) as unknown as StateStore
}
