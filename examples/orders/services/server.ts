// The network face of a service: HTTP in front of the ledger, and the faults in between.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { calm, chance, type Fault, type Odds, type Profile, pick } from './faults.ts'
import { Ledger } from './ledger.ts'
import { type Answer, type Body, type Command, type Definition, perform } from './service.ts'

export interface ServerOptions {
  /** Where the ledger lives: a service started again in the same place remembers all it did. */
  dir: string
  port?: number
  seed?: number
  profile?: Profile
  /** What its ledger survives: the end of the machine, or, which costs no flush, only that of the process. */
  survives?: 'machine' | 'process'
}

export interface Server {
  url: string
  port: number
  close(): Promise<void>
}

type Outcome = Answer & { fault: Fault | null; wait: number }

const failures: Partial<Record<Fault, Answer>> = {
  error: { status: 500, body: { error: 'internal error' } },
  busy: { status: 503, body: { error: 'too busy' } },
  hang: { status: 0, body: {} },
  ill: { status: 503, body: { error: 'we are not well' } },
}

export async function serve(service: Definition, options: ServerOptions): Promise<Server> {
  const { dir, port = 0, seed = 1, profile = calm, survives = 'machine' } = options
  const { name } = service
  const ledger = new Ledger(join(dir, `${name}.db`), { synchronous: survives === 'machine' ? 'FULL' : 'NORMAL' })
  /** Until then nothing goes well (ms since the epoch). */
  let illUntil = 0
  const isRefused = (orderId: string) => chance(seed, name, 'refusal', orderId) < (profile.refusals[name] ?? 0)

  /** The order a request is about, as it says itself or as the effect it speaks of tells. */
  function orderOf({ key, input }: Command): string | null {
    if (typeof input.orderId === 'string') return input.orderId
    const effect = ledger.effectByKey(key) ?? ledger.effectById(String(input[service.action.id]))
    return effect?.orderId ?? null
  }

  /** Records one request and, unless a fault stops it, does its work, in one transaction. */
  function receive(request: IncomingMessage, command: Command, odds: Odds, work: () => Answer): Outcome {
    const { kind, key } = command
    return ledger.transaction(() => {
      const receipt = ledger.count(key, kind) + 1
      const draw = (what: string) => chance(seed, name, what, kind, key, receipt)
      const late = overdue(request)
      const drawn = receipt > profile.faultyReceipts ? null : pick(odds, draw('fault'))
      const fault = late ? null : Date.now() < illUntil ? 'ill' : drawn
      const answer = late ?? (fault && failures[fault]) ?? work()
      const answered = fault === 'hang' || fault === 'lost' || fault === 'mute' ? null : answer.status
      const orderId = orderOf(command)
      const attempt = Number(request.headers.attempt) || null
      ledger.receive({ kind, key, orderId, attempt, fault, status: answered, violation: answer.violation ?? null })
      return { ...answer, fault, wait: Math.ceil(20 + 180 * draw('wait')) }
    })
  }

  /** How likely each fault is on the two routes that change something; other routes have none. */
  function oddsOf(route: string): Odds | null {
    if (route === `POST /${service.action.kind}`) return profile.action
    if (service.undo && route === `POST /${service.undo.kind}`) return profile.undo
    return null
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, kind = '', subject = ''] = (request.url ?? '').split('/')
    const route = `${request.method} /${kind}`
    if (route === 'GET /ledger') return reply(response, 200, { ...ledger.rows(name) })
    if (route === 'GET /by-key') {
      const key = decodeURIComponent(subject)
      const command = { kind: 'lookup', key, input: {} }
      return deliver(
        response,
        receive(request, command, profile.lookup, () => lookup(ledger, key)),
      )
    }
    if (service.reads && route === `GET /${service.reads.kind}`) {
      const { answer } = service.reads
      const command = { kind, key: subject, input: {} }
      return deliver(
        response,
        receive(request, command, profile.lookup, () => ({ status: 200, body: answer(decodeURIComponent(subject)) })),
      )
    }
    if (route === 'POST /illness') {
      illUntil = Date.now() + Number(subject)
      return reply(response, 200, {})
    }
    const odds = oddsOf(route)
    if (!odds) return reply(response, 404, { error: `no ${route} here` })
    const key = request.headers['idempotency-key']
    if (typeof key !== 'string') return reply(response, 400, { error: 'Idempotency-Key is missing' })
    const input = await readJson(request)
    if (!input) return reply(response, 400, { error: 'the body must be a JSON object' })
    const command = { kind, key, input }
    return deliver(
      response,
      receive(request, command, odds, () => perform(service, ledger, command, isRefused)),
    )
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => reply(response, 500, { error: String(error) }))
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  const bound = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      ledger.close()
    },
  }
}

function lookup(ledger: Ledger, key: string): Answer {
  const effect = ledger.effectByKey(key)
  return { status: 200, body: effect ? { done: true, output: effect.output } : { done: false } }
}

/**
 * The caller counts a request as failed once its complete-by is past, and may then look up what became of it. "Not done"
 * has to stay true from then on, so a request that was on its way for too long is turned away.
 */
function overdue(request: IncomingMessage): Answer | null {
  const completeBy = Date.parse(String(request.headers['complete-by']))
  return Date.now() > completeBy ? { status: 408, body: { error: 'came after its complete-by' } } : null
}

/** Whatever had to happen has happened by now, once and for all; from here on only the answer can suffer. */
async function deliver(response: ServerResponse, { status, body, fault, wait }: Outcome): Promise<void> {
  if (fault === 'hang' || fault === 'mute') return
  if (fault === 'lost') return void response.destroy()
  if (fault === 'slow') await delay(wait)
  // HTTP knows whole seconds only, which is long here; like many APIs, name the milliseconds as well.
  const retry = fault === 'busy' ? { 'retry-after': `${Math.ceil(wait / 1000)}`, 'retry-after-ms': `${wait}` } : {}
  reply(response, status, body, retry)
}

function reply(response: ServerResponse, status: number, body: Body, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

async function readJson(request: IncomingMessage): Promise<Body | null> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    const value = JSON.parse(Buffer.concat(chunks).toString())
    return value && typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
