import type { ImportOptions, TaskEntry, TaskExport, TaskOptions, WorkflowRef } from 'triarch'
import { isTriarchError, TriarchError } from 'triarch/contract'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { errorOf } from './problem.ts'
import { array, object, text } from './shape.ts'
import { encode, moment, segment } from './value.ts'

/** Of one request: tasks, and characters of their JSON. A single task may have more. */
const MOST = 1_000
const LONGEST = 512 * 1024
/** Requests of one list that are under way. */
const REQUESTS = 4

type Entry = { id: string; ifExists?: TaskOptions['ifExists'] | undefined }

/** A task as the API takes it. Throws INVALID_NAME, INVALID_OPTION, INVALID_DURATION. */
export function entryOf(input: unknown, options: TaskOptions, newId: () => string): Entry & Record<string, unknown> {
  const { startAt, startBefore, completeBy, after, id = newId(), ...rest } = options
  const { ifExists, exclusive, frozen, priority, tags, metadata, ...others } = rest
  known('submit', others)
  segment('a task id', id)
  return {
    ...{ input, id, ifExists, exclusive, frozen, priority, tags, metadata },
    ...(startAt !== undefined && { startAt: moment('submit: startAt', startAt) }),
    ...(startBefore !== undefined && { startBefore: moment('submit: startBefore', startBefore) }),
    ...(completeBy !== undefined && { completeBy: moment('submit: completeBy', completeBy) }),
    ...(after !== undefined && { after: [after].flat() }),
  }
}

/** Whether a task that was submitted is new; undefined: one that is there may be of a request before, whose answer was lost. */
export function isNewTask(answer: unknown, _: number, uncertain: boolean): boolean | undefined {
  const { id, created } = object(answer)
  text(id)
  return created === true || (uncertain ? undefined : false)
}

interface Made {
  id: string
  isNew: boolean | undefined
}

type Result = PromiseSettledResult<Made>

/** Sent again it is the same task. */
export async function importTask(exchange: Exchange, exported: TaskExport, options: ImportOptions): Promise<Made> {
  const { paused, reason, actor, ...rest } = options
  known('tasks.import', rest)
  const { task: id, format, veiled, records } = exported
  const body = { history: { format, task: id, veiled, records }, paused, reason, actor }
  const isNew = await exchange.ask({
    ...{ method: 'POST', path: '/imports', body: encode('tasks.import', body) },
    read: isNewTask,
  })
  return { id, isNew }
}

/** One of a list, as text. */
interface Sent extends Entry {
  /** In the list. */
  at: number
  text: string
}

/** Each task of the list, several in a request. Throws what has to do with none of them by itself. */
export async function submitAll<I>(
  exchange: Exchange,
  workflow: WorkflowRef,
  entries: Iterable<TaskEntry<I>>,
): Promise<Result[]> {
  const results: Result[] = []
  const requests = requestsOf(entries, workflow, () => exchange.settings.environment.id(), results)
  // Those who take turns at one generator never have more in hand than there are of them.
  const workers = Array.from({ length: REQUESTS }, async () => {
    for (const sent of requests) await send(exchange, workflow, sent, results)
  })
  const failure = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected')
  if (failure?.status === 'rejected') throw failure.reason
  return results
}

/** What cannot be sent has its result at once. */
function* requestsOf(
  entries: Iterable<TaskEntry>,
  workflow: WorkflowRef,
  newId: () => string,
  results: Result[],
): Generator<Sent[]> {
  if (typeof entries?.[Symbol.iterator] !== 'function' || typeof entries === 'string')
    throw new TriarchError('INVALID_OPTION', 'submitMany takes a list of { input, …options }')
  let [sent, length, at] = [[] as Sent[], 0, 0]
  for (const entry of entries) {
    const place = at++
    try {
      const { input, ...options } = object(entry) as unknown as TaskEntry
      const { id, ifExists, ...rest } = entryOf(input, options, newId)
      const string = encode(`input of ${workflow.name}`, { id, ifExists, ...rest })
      if (sent.length > 0 && (sent.length >= MOST || length + string.length > LONGEST)) {
        yield sent
        sent = []
        length = 0
      }
      sent.push({ at: place, id, ifExists, text: string })
      length += string.length
    } catch (reason) {
      const error =
        reason instanceof TypeError
          ? new TriarchError('INVALID_OPTION', 'an entry must be { input, …options }')
          : reason
      results[place] = { status: 'rejected', reason: error }
    }
  }
  if (sent.length > 0) yield sent
}

async function send(exchange: Exchange, workflow: WorkflowRef, sent: Sent[], results: Result[]): Promise<void> {
  const { name, version } = workflow
  const head = JSON.stringify({ workflow: name, ...(version !== undefined && { version }) }).slice(0, -1)
  try {
    const made = await exchange.ask({
      ...{ method: 'POST', path: '/submissions', body: `${head},"tasks":[${sent.map((it) => it.text).join()}]}` },
      once: sent.some(({ ifExists }) => ifExists === 'reject'),
      read(body, status, uncertain) {
        const all = array(object(body).results, (it) => resultOf(it, status, uncertain))
        if (all.length !== sent.length) throw new TypeError('not one result for each')
        return all
      },
    })
    for (const [index, result] of made.entries()) results[sent[index]?.at ?? 0] = result
  } catch (reason) {
    if (isTriarchError(reason, 'UNKNOWN_WORKFLOW')) throw reason
    // What the server refuses as a whole it may refuse for the sake of one.
    if (sent.length > 1 && (isTriarchError(reason, 'INVALID_OPTION') || isTriarchError(reason, 'PAYLOAD_TOO_LARGE'))) {
      const half = Math.ceil(sent.length / 2)
      await send(exchange, workflow, sent.slice(0, half), results)
      return send(exchange, workflow, sent.slice(half), results)
    }
    for (const { at } of sent) results[at] = { status: 'rejected', reason }
  }
}

function resultOf(given: unknown, status: number, uncertain: boolean): Result {
  const { problem } = object(given)
  if (problem !== undefined) return { status: 'rejected', reason: errorOf(Number(object(problem).status), problem) }
  const isNew = isNewTask(given, status, uncertain)
  return { status: 'fulfilled', value: { id: text(object(given).id), isNew } }
}
