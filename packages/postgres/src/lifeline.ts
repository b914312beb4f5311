import { createRequire } from 'node:module'
import { TriarchError } from 'triarch'
import { type Environment, type KeepAlive, Lifeline } from 'triarch/store'
import { configOf } from './connect.ts'
import { storeError } from './failure.ts'
import type { Settings } from './options.ts'
import { inSchema } from './schema.ts'

const BEAT = 'SELECT triarch.beat(NULL, $1, $2, $3, $4, $5), triarch.clock(NULL)'

const SOURCE = `
async function connect({ module, config, named, text, values, answerWithin, lease }) {
  const { Client } = require(module)
  const client = new Client(config)
  client.on('error', () => {})
  const cut = () => client.connection.stream.destroy()
  const inTime = async (promise, length) => {
    const timer = setTimeout(cut, Math.ceil(Math.min(answerWithin, length / 3)))
    try {
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }
  await inTime(client.connect(), lease)
  return {
    async renew(length) {
      const query = { ...(named && { name: 'triarch_lease' }), text, values: [values[0], values[1], String(length), ...values.slice(2)], rowMode: 'array' }
      const { rows } = await inTime(client.query(query), length)
      return { alive: rows[0][0] === true, now: Number(rows[0][1]) }
    },
    async close() {
      const timer = setTimeout(cut, 500)
      await client.end().catch(() => {})
      clearTimeout(timer)
    },
  }
}
`

/** Returns null if a thread cannot load `pg` from here (it was bundled), or cannot be passed what it needs. */
export function lifeline(environment: Environment, settings: Settings, options: KeepAlive): Lifeline | null {
  const { id, roles, lease, runs, place } = options.node
  try {
    const data = {
      module: createRequire(import.meta.url).resolve('pg'),
      config: configOf(settings, 'beats'),
      named: settings.notify,
      text: inSchema(BEAT, settings.schema),
      values: [id, ...[roles, runs, place].map((it) => JSON.stringify(it))], // missing values are null
      ...{ answerWithin: settings.answerWithin, lease },
    }
    const report: KeepAlive['report'] = (it) =>
      options.report(
        it.type === 'failed' ? { ...it, error: storeError(Object.assign(it.error, { code: it.code })) as Error } : it,
      )
    return Lifeline.start(environment, { ...options, report }, { source: SOURCE, data })
  } catch (cause) {
    const message =
      'no thread can renew the lease here, where pg cannot be loaded by one: a step that blocks the event loop may cost it'
    options.report({ type: 'failed', error: new TriarchError('LEASE_UNGUARDED', message, { cause }) })
    return null
  }
}
