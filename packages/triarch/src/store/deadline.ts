import type { Environment, Timer } from '../environment/environment.ts'
import { Register } from '../environment/register.ts'
import { TriarchError } from '../error/error.ts'
import { boundedCalls, storeMembers, unboundedCalls } from './calls.ts'
import type { StateStore } from './port.ts'

/** How long callers wait for an answer if the store has no `patience` (ms). */
export const LONGEST_ANSWER = 60_000
/**
 * How often outstanding calls are checked in that time. A process that was suspended has checked once when it resumes,
 * and gives up no call.
 */
const LOOKS = 4

/** Returns all members of the store in a new object: wrappers of a store begin with it and replace the members that they change. */
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
 * Wraps the store with a time limit for each answer: a call that gets none is rejected with STORE_UNANSWERED, though it
 * may have been done, or may still be done. One timer checks all outstanding calls, and runs only while there are any.
 * `unanswered`: called for each rejected call.
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
