import type { Environment, Timer } from '../environment/environment.ts'
import { Register } from '../environment/register.ts'
import { TriarchError } from '../error/error.ts'
import { boundedCalls, storeMembers, unboundedCalls } from './calls.ts'
import type { StateStore } from './port.ts'

/** How long an answer is waited for where the store does not say (ms). */
export const LONGEST_ANSWER = 60_000
/** In that time it is looked so often for what is outstanding. A process that stood still has looked once, and gives up nothing. */
const LOOKS = 4

/** All that the store has, in an object of its own: who stands around a store begins with that, and says what is different. */
export function callsOf(store: StateStore): StateStore {
  // The compiler cannot see that each name fits the method of the same name.
  const methods = store as unknown as Record<string, unknown>
  const own = storeMembers.flatMap((name) => {
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
  const waiting = boundedCalls.map((call) => [call, (...args: unknown[]) => wait(call, args)])
  const others = unboundedCalls.flatMap((name) => {
    const own = methods[name]
    return own === undefined
      ? []
      : [[name, typeof own === 'function' ? (...args: unknown[]) => methods[name]?.(...args) : own]]
  })
  return Object.fromEntries([...waiting, ...others]) as unknown as StateStore
}
