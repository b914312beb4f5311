import { type CountsChange, formatFilter, type ListChange, TriarchError } from 'triarch'
import { z } from 'zod'
import { QUIET, type Source } from '../live/streams.ts'
import type { Principal } from '../options.ts'
import { rightsOf } from '../request/right.ts'
import { Counts, Gone, StreamEnd } from '../wire/live.ts'
import { LogLine, logQuery } from '../wire/log.ts'
import { TaskInfo, TaskPage } from '../wire/task.ts'
import { given, type Route, type RouteCall, reply, route, type Site } from './route.ts'

const headers = {
  'Last-Event-ID': 'The id of the last event that was read: if nothing changed since, nothing is told again.',
} as const
const about =
  'Server-Sent Events. The last event of a stream that the server ends is `end`, and says whether to ask again.'

type ResponseHeaders = Record<string, string>
const streamed: ResponseHeaders = { 'x-accel-buffering': 'no' }

type Asking = Pick<RouteCall<string, unknown, unknown>, 'headers' | 'principal' | 'signal' | 'still'>

/** Who may control tasks is an operator. */
function watcher(principal: Principal | null): Required<Pick<Source, 'caller' | 'operates'>> {
  return { caller: principal?.id ?? null, operates: rightsOf(principal).includes('control') }
}

async function open({ streams }: Site, source: Source, { headers, signal, still, principal }: Asking) {
  return streams.open({ ...source, still, signal, ...watcher(principal) }, headers.get('last-event-id'))
}

function itself(id: string): string {
  return formatFilter({ terms: [{ field: 'id', test: { type: 'is', values: [{ text: id }] } }] })
}

const task = route({
  method: 'GET',
  path: '/tasks/{id}/events',
  id: 'watchTask',
  summary: 'The task now, and after each change that is seen, until it stops.',
  headers,
  answers: {
    200: { description: about, events: { task: TaskInfo, gone: Gone, end: StreamEnd } },
    204: { description: 'It has stopped, and `Last-Event-ID` says that this is known' },
  },
  problems: [404],
  async run(call, site) {
    const { id } = call.params
    const watch = (signal: AbortSignal): AsyncIterableIterator<ListChange> =>
      site.triarch.tasks.watch({ filter: itself(id), limit: 1, quiet: QUIET, signal })
    const stream = await open(site, { watch, task: id }, call)
    return stream === null ? reply(204) : { status: 200 as const, headers: streamed, stream }
  },
})

/** Lines that are read at a time, at most: they wait here until the client has read them. */
const LINES = 50

const logs = route({
  method: 'GET',
  path: '/tasks/{id}/logs/events',
  id: 'watchLogs',
  summary: 'Each line of its log after `after`, once and in order, and each that comes, until it has stopped.',
  query: logQuery,
  headers: { 'Last-Event-ID': 'The id of the last event that was read: what comes after that is told.' },
  answers: {
    200: { description: about, events: { line: LogLine, end: StreamEnd } },
    204: { description: 'It has stopped, and `Last-Event-ID` says that its last line was read' },
  },
  problems: [404],
  async run({ params: { id }, query, headers, principal, signal, still }, { triarch, streams }) {
    const { after = 0, limit = LINES, ...which } = given(query)
    const source = {
      ...{ after, still, signal, ...watcher(principal) },
      follow: (after: number, signal: AbortSignal) =>
        triarch.tasks.get(id).watchLogs({ ...which, limit: Math.min(limit, LINES), after, signal }),
      async stopped() {
        const [task] = (await triarch.tasks.list({ filter: itself(id), limit: 1 })).tasks
        if (!task) throw new TriarchError('UNKNOWN_TASK', `there is no task "${id}"`)
        return task.status === 'stopped'
      },
    }
    const stream = await streams.lines(source, headers.get('last-event-id'))
    return stream === null ? reply(204) : { status: 200 as const, headers: streamed, stream }
  },
})

const list = route({
  method: 'GET',
  path: '/tasks/events',
  id: 'watchTasks',
  summary: 'The tasks that fit a filter, and what comes into that list, changes in it, and leaves it.',
  query: z.strictObject({
    filter: z.string().max(4_000).optional(),
    limit: z.int().min(1).max(200).optional(),
  }),
  headers,
  answers: { 200: { description: about, events: { page: TaskPage, task: TaskInfo, gone: Gone, end: StreamEnd } } },
  async run(call, site) {
    const watch = (signal: AbortSignal): AsyncIterableIterator<ListChange> =>
      site.triarch.tasks.watch({ ...given(call.query), quiet: QUIET, signal })
    const stream = await open(site, { watch }, call)
    return { status: 200 as const, headers: streamed, stream: stream as ReadableStream }
  },
})

const counts = route({
  method: 'GET',
  path: '/stats/events',
  id: 'watchStatistics',
  summary: 'How much is in the store, now and after each change that is seen.',
  headers,
  answers: { 200: { description: about, events: { counts: Counts, end: StreamEnd } } },
  async run(call, site) {
    const watch = (signal: AbortSignal): AsyncIterableIterator<CountsChange> =>
      site.triarch.statistics.watch({ quiet: QUIET, signal })
    const { headers, signal, still, principal } = call
    const stream = await site.streams.begin(
      { watch, still, signal, ...watcher(principal) },
      headers.get('last-event-id'),
    )
    return { status: 200 as const, headers: streamed, stream }
  },
})

// Before those of one task: `events` is no id here.
export const live: readonly Route[] = [list, task, logs, counts]
