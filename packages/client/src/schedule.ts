import type { BackfillOptions, ScheduleInfo, ScheduleOptions, ScheduleRunOptions } from 'triarch'
import type { ScheduleCollection, ScheduleHandle } from 'triarch/contract'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { pageQuery } from './page.ts'
import { array, date, object, text } from './shape.ts'
import { duration, encode, instant, query, segment } from './value.ts'
import { scheduleInfo } from './view.ts'

/** A schedule on a server. Each of its writes leaves the same behind when it is sent again. */
class RemoteSchedule implements ScheduleHandle {
  readonly name: string
  readonly #exchange: Exchange
  readonly #path: string

  constructor(exchange: Exchange, name: string) {
    this.name = name
    this.#exchange = exchange
    this.#path = `/schedules/${segment('the name of a schedule', name)}`
  }

  info(): Promise<ScheduleInfo> {
    return this.#exchange.ask({ method: 'GET', path: this.#path, read: scheduleInfo })
  }

  async next(count?: number): Promise<Date[]> {
    const read = (body: unknown) => array(object(body).occurrences, date)
    return this.#exchange.ask({ method: 'GET', path: `${this.#path}/next${query({ count })}`, read })
  }

  async pause(options: { reason?: string } = {}): Promise<void> {
    const { reason, ...rest } = options
    known('pause', rest)
    await this.#post('pause', { reason }, scheduleInfo)
  }

  async resume(options: { reason?: string } = {}): Promise<void> {
    const { reason, ...rest } = options
    known('resume', rest)
    await this.#post('resume', { reason }, scheduleInfo)
  }

  async backfill({ from, to, overlap, reason, ...rest }: BackfillOptions): Promise<string[]> {
    known('backfill', rest)
    const body = { from: instant('backfill: from', from), to: instant('backfill: to', to), overlap, reason }
    return this.#post('backfill', body, (answer) => array(object(answer).tasks, text))
  }

  async run(options: ScheduleRunOptions = {}): Promise<string> {
    const { id = this.#newId(), overlap, reason, ...rest } = options
    known('run', rest)
    return this.#post('run', { id, overlap, reason }, (answer) => text(object(answer).task))
  }

  /** Of a run: sent again, it is the same one. */
  #newId(): string {
    return `${this.name}@${this.#exchange.settings.environment.id()}`
  }

  async remove(options: { reason?: string } = {}): Promise<void> {
    const { reason, ...rest } = options
    known('remove', rest)
    const read = () => undefined
    const path = reason === undefined ? this.#path : `${this.#path}?reason=${encodeURIComponent(reason)}`
    await this.#exchange.ask({ method: 'DELETE', path, gone: 'UNKNOWN_SCHEDULE', read })
  }

  async register<I, O>(options: ScheduleOptions<I, O>): Promise<void> {
    const {
      workflow,
      input,
      cron,
      timeZone,
      every,
      from,
      overlap,
      catchUp,
      jitter,
      priority,
      tags,
      metadata,
      ...rest
    } = options
    known(`schedule "${this.name}"`, rest)
    const { limit, within, ...more } = catchUp ?? {}
    known(`schedule "${this.name}": catchUp`, more)
    const definition = {
      ...{ workflow: workflow?.name, version: workflow?.version, input, cron, timeZone, overlap },
      ...(every !== undefined && { every: duration('every', every) }),
      ...(from !== undefined && { from: instant('from', from) }),
      ...(jitter !== undefined && { jitter: duration('jitter', jitter) }),
      ...(catchUp && { catchUp: { limit, ...(within !== undefined && { within: duration('within', within) }) } }),
      ...{ priority, tags, metadata },
    }
    const body = encode(`schedule "${this.name}"`, definition)
    await this.#exchange.ask({ method: 'PUT', path: this.#path, body, read: scheduleInfo })
  }

  #post<T>(action: string, body: object | undefined, read: (answer: unknown) => T): Promise<T> {
    const said = body === undefined ? {} : { body: encode(action, body) }
    return this.#exchange.ask({ method: 'POST', path: `${this.#path}/${action}`, ...said, read })
  }
}

export function schedulesOf(exchange: Exchange): ScheduleCollection {
  return {
    get: (name) => new RemoteSchedule(exchange, name),
    list: async (options = {}) =>
      exchange.get(`/schedules${pageQuery('schedules.list', options)}`, (body) => {
        const page = object(body)
        return { ...page, schedules: array(page.schedules, scheduleInfo) }
      }),
  }
}
