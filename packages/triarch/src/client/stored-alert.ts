import type { AlertDelivery } from '../alert/delivery.ts'
import type { AlertSinkTrial } from '../alert/sink.ts'
import { isEvaluated, postsOf, type StoredAlert, storedAlert } from '../alert/stored.ts'
import { TriarchError } from '../error/error.ts'
import { type AlertAct, type AlertNews, type AlertState, acknowledged, endedBy, silenced } from '../policy/alert.ts'
import type { AlertRow } from '../store/port.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkText } from '../value/text.ts'
import { actor as acting, entryOf } from './act.ts'
import type {
  AlertActOptions,
  AlertCollection,
  AlertHandle,
  AlertInfo,
  AlertPage,
  AlertsOptions,
  AlertTestOptions,
  AlertWord,
} from './alert.ts'
import type { Connection } from './connection.ts'

/** Gives up after concurrent changes have won this many times. */
const PATIENCE = 20
const LONGEST_NAME = 500
const LONGEST_REASON = 1_000
const MOST = 1_000

/** An alert in the store, by name. */
class StoredAlertHandle implements AlertHandle {
  readonly name: string
  readonly #connection: Connection

  constructor(connection: Connection, name: string) {
    this.name = checkText('alert: name', name, LONGEST_NAME)
    this.#connection = connection
  }

  async info(): Promise<AlertInfo> {
    await this.#connection.opened()
    const { row } = await this.#read()
    return alertInfo(row) ?? this.#unknown()
  }

  acknowledge(options: AlertActOptions): Promise<AlertInfo> {
    return this.#change('acknowledge', options, (state, act) => {
      const next = acknowledged(state, act)
      return next && { state: next, news: null }
    })
  }

  async silence(options: AlertActOptions & { until: Date }): Promise<AlertInfo> {
    const until: unknown = options?.until
    if (!(until instanceof Date) || Number.isNaN(until.getTime()))
      throw new TriarchError('INVALID_OPTION', 'silence: until must be a valid date')
    return this.#change('silence', options, (state, act) => {
      const next = silenced(state, { ...act, until: until.getTime() })
      return next && { state: next, news: null }
    })
  }

  end(options: AlertActOptions): Promise<AlertInfo> {
    return this.#change('end', options, (state, act) => endedBy(state, act) as ReturnType<AlertChange>)
  }

  async #change(
    what: 'acknowledge' | 'silence' | 'end',
    options: AlertActOptions,
    change: AlertChange,
  ): Promise<AlertInfo> {
    if (what === 'silence') checkOptions<Partial<Silencing>, typeof silenceKeys>(what, options ?? null, silenceKeys)
    else checkOptions(what, options ?? null, ['reason', 'actor'])
    const { reason, actor = acting() ?? 'operator' } = options
    checkText(`${what}: reason`, reason, LONGEST_REASON)
    checkText(`${what}: actor`, actor, 200)
    await this.#connection.opened()
    const { store, environment } = this.#connection
    const subject = `alert:${this.name}`
    const details = { until: 'until' in options ? options.until : undefined }
    const audit = entryOf(environment, { action: `alert.${what}`, subject, reason, actor, details })
    for (let round = 0; round < PATIENCE; round++) {
      const { row, stored } = await this.#read()
      const now = await store.now()
      const step = change(stored.state, { by: actor, reason, at: now })
      // The call was repeated because its answer was lost; the alert is already ended.
      if (!step && what === 'end' && isSaid(stored.state.ended?.by, actor, reason)) return this.info()
      if (!step) throw new TriarchError('UNKNOWN_ALERT', `alert "${this.name}" has ended`)
      const next: StoredAlert = { ...stored, state: step.state }
      const posts = postsOf(next, step.news, { now, id: () => environment.id() })
      const write = { name: this.name, open: isEvaluated(step.state), at: now, state: JSON.stringify(next) }
      if (await store.writeAlert({ ...write, expected: row.revision, posts, fence: null, audit })) return this.info()
    }
    throw new TriarchError('STORE_BUSY', `alert "${this.name}" changes all the time`)
  }

  async #read(): Promise<{ row: AlertRow; stored: StoredAlert }> {
    const [row] = await this.#connection.store.alerts({ names: [this.name] })
    if (row?.undecoded) throw row.undecoded
    const stored = row && storedAlert(row.state)
    return row && stored ? { row, stored } : this.#unknown()
  }

  #unknown(): never {
    throw new TriarchError('UNKNOWN_ALERT', `there is no alert "${this.name}"`)
  }
}

type Silencing = AlertActOptions & { until: Date }
const silenceKeys = ['reason', 'actor', 'until'] as const
type AlertChange = (state: AlertState, act: AlertAct) => { state: AlertState; news: AlertNews | null } | null

/** The alerts in the store. `delivery`: notifies the sinks of this process; null: alerts are off. */
export function alertsOf(connection: Connection, delivery: () => AlertDelivery | null): AlertCollection {
  return {
    get: (name) => new StoredAlertHandle(connection, name),
    list: (options = {}) => listAlerts(connection, options),
    test: (options = {}) => testAlert(connection, delivery(), options),
  }
}

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
async function testAlert(
  { store, environment, opened }: Connection,
  delivery: AlertDelivery | null,
  options: AlertTestOptions,
): Promise<AlertSinkTrial[]> {
  checkOptions('alerts.test', options ?? null, ['sink', 'reason', 'actor'])
  const { sink, reason, actor = acting() ?? 'operator' } = options
  if (reason !== undefined) checkText('alerts.test: reason', reason, LONGEST_REASON)
  checkText('alerts.test: actor', actor, 200)
  const names = delivery?.sinks ?? []
  if (sink !== undefined && !names.includes(sink))
    throw new TriarchError('INVALID_OPTION', `alerts.test: this process has no sink "${String(sink).slice(0, 100)}"`)
  await opened()
  await store.writeAudit([
    entryOf(environment, { action: 'alert.test', subject: `sink:${sink ?? '*'}`, reason, actor }),
  ])
  const tried = sink === undefined ? names : [sink]
  return Promise.all(tried.map((name) => (delivery as AlertDelivery).test(name, actor)))
}

/** Leaves out alerts that cannot be read. Throws UNKNOWN_OPTION, INVALID_OPTION. */
async function listAlerts({ store, opened }: Connection, options: AlertsOptions): Promise<AlertPage> {
  checkOptions('alerts.list', options, ['ended', 'cursor', 'limit'])
  const { ended = false, cursor = '', limit = 100 } = options
  checkInteger('alerts.list: limit', limit, 1, MOST)
  if (typeof ended !== 'boolean') throw new TriarchError('INVALID_OPTION', 'alerts.list: ended must be true or false')
  checkText('alerts.list: cursor', cursor, LONGEST_NAME)
  await opened()
  const rows = await store.alerts({ open: !ended, after: cursor, limit: limit + 1 })
  const last = rows[limit - 1]
  const alerts = rows.slice(0, limit).flatMap((row) => alertInfo(row) ?? [])
  return { alerts, ...(rows.length > limit && last && { next: last.name }) }
}

function alertInfo({ name, state: text, undecoded }: AlertRow): AlertInfo | null {
  const stored = undecoded ? null : storedAlert(text)
  if (!stored) return null
  const { rule, subject, state } = stored
  const { id, phase, severity, message, since, firedAt, ended, owner, silence, toldAt } = state
  return {
    ...{ name, id, rule, subject, phase, severity, message, since: new Date(since) },
    ...{ firedAt: dateOf(firedAt), endedAt: dateOf(ended?.at), endedBy: wordOf(ended?.by), owner: wordOf(owner) },
    silence: silence ? { ...(wordOf(silence) as AlertWord), until: new Date(silence.until) } : undefined,
    toldAt: dateOf(toldAt),
  }
}

function isSaid(act: AlertAct | null | undefined, by: string, reason: string): boolean {
  return act?.by === by && act.reason === reason
}

function dateOf(at: number | null | undefined): Date | undefined {
  return at == null ? undefined : new Date(at)
}

function wordOf(act: AlertAct | null | undefined): AlertWord | undefined {
  return act ? { actor: act.by, reason: act.reason, at: new Date(act.at) } : undefined
}
