import type { StepCall } from '../../packages/triarch/src/definition/middleware.ts'
import { hash32 } from '../../packages/triarch/src/environment/random.ts'
import { type Middleware, middleware, type StandardSchema, TransientError } from '../../packages/triarch/src/index.ts'
import type { Evidence } from '../../packages/triarch/test/crash/evidence.ts'
import type { Place } from '../../packages/triarch/test/crash/ledger.ts'
import { placeOf } from '../../packages/triarch/test/crash/workload.ts'
import type { Diary } from './yard.ts'

/** Events with these numbers are refused: by word, or by throwing. */
export function isRefused(number: number): boolean {
  return number % 5 === 0
}

/** Those that are not; in worlds that are not strict all of them. */
export function accepted(sent: Record<string, number[]>, strict: unknown): Record<string, number[]> {
  if (!strict) return sent
  return Object.fromEntries(Object.entries(sent).map(([id, all]) => [id, all.filter((one) => !isRefused(one))]))
}

/** What no task may give. */
const UNSPEAKABLE = 7

/** Refuses what `refuses` says, every other time by throwing. */
function schema<T>(refuses: (value: T) => boolean): StandardSchema<T, T> {
  let times = 0
  const validate = (value: unknown) => {
    if (!refuses(value as T)) return { value: value as T }
    if (times++ % 2 === 0) throw new Error('injected: a schema throws')
    return { issues: [{ message: 'injected: refused' }] }
  }
  return { '~standard': { version: 1, vendor: 'simulation', validate } }
}

/** Of programs: which events they take, and what they may not give. */
export const strictSchemas = () => ({
  signals: { news: schema<number>(isRefused) },
  output: schema<number[]>((heard) => heard.includes(UNSPEAKABLE)),
})

/** Of an action: its input or its output is refused when it says so. */
export const fit = <T extends object>(of: 'input' | 'output'): StandardSchema<T, T> =>
  schema<T>((value) => (value as { unfit?: string }).unfit === of)

let hushed = false

/** For whoever hears of errors and throws: the engine says so on stderr, each time. */
export function rethrow(): never {
  const { stderr } = process
  const write = stderr.write.bind(stderr)
  if (!hushed) stderr.write = ((text: string) => text.includes('injected: ') || write(text)) as typeof stderr.write
  hushed = true
  throw new Error('injected: whoever hears of errors throws')
}

/** Around every attempt of a node: writes down that it was there, and throws at some that are tried for the first time. */
export function censor(diary: Diary): Middleware {
  const hook = (operation: Place['operation']) => (call: StepCall, next: () => unknown) => {
    const place = placeOf(operation, call.name, call.step)
    diary.wrap(place)
    if (place.attempt === 1 && operation !== 'verify' && hash32(`${place.key} ${operation}`) % 4 === 0)
      throw new TransientError('injected: a middleware throws', { retryAfter: 10 })
    return next()
  }
  return middleware('censor', { run: hook('run'), undo: hook('undo'), verify: hook('verify'), finalize: hook('run') })
}

/** What a schema refuses no code ever sees, and no attempt runs without what is around it. */
export function censored({ tasks, ledger }: Evidence, wrapped: ReadonlySet<string>): string[] {
  const given = tasks.filter(({ row }) => row.workflow === 'program' && row.result === 'success')
  const calls = ledger.filter(({ kind }) => kind === 'call')
  return [
    ...given.flatMap(({ row }) => {
      const heard = JSON.parse(row.output ?? '[]') as number[]
      const bad = heard.filter((number) => isRefused(number) || number === UNSPEAKABLE)
      return bad.length === 0 ? [] : [`${row.id} heard ${bad.join()}, which its schemas refuse`]
    }),
    ...calls.filter((call) => !wrapped.has(nameOf(call))).map((call) => `nothing was around the ${nameOf(call)}`),
  ]
}

export function nameOf({ operation, key, attempt }: Pick<Place, 'operation' | 'key' | 'attempt'>): string {
  return `${operation} attempt ${attempt} of ${key}`
}
