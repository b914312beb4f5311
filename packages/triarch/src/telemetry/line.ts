import { toRecord } from '../error/record.ts'
import type { LogLevel } from '../value/level.ts'
import type { TelemetryEvents, TelemetryName } from './catalogue.ts'

/** How an event is logged. */
interface LineFormat<E> {
  /** The highest level of any event of this type; a logger with a higher level skips it without creating a line. */
  worst: LogLevel
  says: string
  /** The level of a particular event; `worst` if absent. */
  level?: (event: E) => LogLevel
}

export interface FormattedLine {
  level: LogLevel
  message: string
  fields: Readonly<Record<string, unknown>>
}

/** The log line of each event; docs/concepts/logs.md has the table. */
const entries: { readonly [N in TelemetryName]: LineFormat<TelemetryEvents[N]> } = {
  'task:submitted': { worst: 'debug', says: 'task submitted' },
  'task:claimed': { worst: 'info', says: 'task claimed', level: ({ orphaned }) => (orphaned ? 'info' : 'debug') },
  'task:replayed': { worst: 'debug', says: 'task replayed' },
  'task:started': { worst: 'debug', says: 'task started' },
  'task:paused': { worst: 'warn', says: 'task paused' },
  'task:resumed': { worst: 'info', says: 'task resumed' },
  'task:compensating': { worst: 'warn', says: 'task is undone' },
  'task:continued': { worst: 'debug', says: 'task continued as new' },
  'task:rewound': { worst: 'info', says: 'task set going again' },
  'task:stopped': {
    worst: 'warn',
    says: 'task stopped',
    level: ({ outcome }) => (outcome === 'error' || outcome === 'compensated' ? 'warn' : 'info'),
  },
  'step:requested': { worst: 'debug', says: 'step requested' },
  'step:parked': { worst: 'debug', says: 'step waits in a queue' },
  'step:retried': { worst: 'info', says: 'step is tried again' },
  'step:fallback': { worst: 'info', says: 'step is done by its fallback' },
  'step:suspended': { worst: 'debug', says: 'step suspended' },
  'step:ended': { worst: 'info', says: 'step ended', level: ({ outcome }) => (outcome === 'error' ? 'info' : 'debug') },
  'attempt:started': { worst: 'debug', says: 'attempt started' },
  'attempt:ended': {
    worst: 'info',
    says: 'attempt ended',
    level: ({ outcome }) => (outcome === 'failed' ? 'info' : 'debug'),
  },
  'cache:hit': { worst: 'debug', says: 'answered by a cache' },
  'cache:miss': { worst: 'debug', says: 'no cache has the answer' },
  'cache:failed': { worst: 'warn', says: 'a cache does not work' },
  'cache:invalidated': { worst: 'info', says: 'answers are invalid' },
  'batch:moved': { worst: 'debug', says: 'batch moved' },
  'batch:stopping': {
    worst: 'warn',
    says: 'batch starts no more children',
    level: ({ error }) => (error ? 'warn' : 'info'),
  },
  commit: { worst: 'error', says: 'commit', level: ({ failed }) => (failed ? 'error' : 'debug') },
  claim: { worst: 'debug', says: 'tasks claimed' },
  'queue:taken': { worst: 'debug', says: 'requests taken from queues' },
  sweep: { worst: 'warn', says: 'sweep', level: ({ deadNodes }) => (deadNodes.length > 0 ? 'warn' : 'debug') },
  'node:died': { worst: 'info', says: 'node died' },
  'leader:taken': { worst: 'info', says: 'this node leads' },
  'leadership:taken': { worst: 'info', says: 'this process leads' },
  'leadership:ended': { worst: 'info', says: 'this process leads no more' },
  'lease:renewed': { worst: 'debug', says: 'lease renewed' },
  'lease:lost': { worst: 'warn', says: 'lease lost' },
  'schedule:fired': { worst: 'info', says: 'schedule fired' },
  setting: { worst: 'info', says: 'setting changed' },
  'breaker:moved': {
    worst: 'warn',
    says: 'circuit breaker moved',
    level: ({ to }) => (to === 'open' ? 'warn' : 'info'),
  },
  'limit:moved': { worst: 'debug', says: 'limit moved' },
  'rate:moved': { worst: 'debug', says: 'rate limit moved' },
  'queue:full': { worst: 'debug', says: 'as many tasks wait as may' },
  'agent:rests': { worst: 'info', says: 'the service of an agent asked for a rest' },
  alert: { worst: 'warn', says: 'alert' },
  error: { worst: 'error', says: 'error in the engine' },
}

/** The highest level of an event of this name. */
export function worstOf(name: TelemetryName): LogLevel {
  return entries[name].worst
}

export function levelOf<N extends TelemetryName>(name: N, event: TelemetryEvents[N]): LogLevel {
  const { level, worst } = entries[name]
  return level?.(event) ?? worst
}

export function formatLine<N extends TelemetryName>(name: N, event: TelemetryEvents[N]): FormattedLine {
  const {
    traceparent,
    run: _,
    error,
    alert,
    ...rest
  } = event as TelemetryEvents[N] & {
    traceparent?: string | null
    run?: number
    error?: unknown
    alert?: TelemetryEvents['alert']['alert']
  }
  const traceId = traceparent?.split('-')[1]
  const { message = entries[name].says, ...about } = alert ?? {}
  const all = {
    event: name,
    ...rest,
    ...about,
    ...(traceId !== undefined && { traceId }),
    ...(error != null && { error: toRecord(error) }),
  }
  const fields = Object.fromEntries(Object.entries(all).filter(([, value]) => value != null))
  return { level: levelOf(name, event), message, fields }
}
