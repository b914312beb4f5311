// Sinks of alerts against a real endpoint and a real mail server.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createEndpoint, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { Webhook } from 'standardwebhooks'
import type { AlertNotification, AlertSink } from 'triarch'
import { testEngine } from 'triarch/testing'
import { describe, expect, it } from 'vitest'
import { type SmtpSinkOptions, smtpSink, type WebhookSinkOptions, webhookSink } from '../src/sink/index.ts'
import { good, key } from './certificate.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBuqdRCDSWHM='
const said: AlertNotification = {
  ...{ id: 'n-1', news: 'raised', name: 'check:bank', opening: 'o-1', rule: 'check', subject: 'bank' },
  ...{ severity: 'critical', message: 'check bank: it is\r\nnot well', since: new Date(1_000), at: new Date(2_000) },
}
const tell = (sink: AlertSink, news: Partial<AlertNotification> = {}, signal = new AbortController().signal) =>
  sink.send({ ...said, ...news }, { signal })

/** An endpoint that takes nothing that is not signed, and answers with these statuses, one after the other. */
async function endpoint(statuses: number[] = []) {
  const heard: { type: string; data: Record<string, unknown>; id: unknown }[] = []
  const server = createEndpoint(async (request: IncomingMessage, response) => {
    const body = await text(request)
    const { type, data } = new Webhook(secret).verify(body, request.headers as Record<string, string>) as never
    heard.push({ type, data, id: request.headers['webhook-id'] })
    const status = statuses.shift() ?? 200
    if (status === 0) return
    response.writeHead(status, status === 302 ? { location: '/other' } : {}).end('x'.repeat(1_000))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const outbound = { schemes: ['http'], allow: ['127.0.0.0/8'], ports: [port] } as const
  const sink = (options: Partial<WebhookSinkOptions> = {}) =>
    webhookSink({ url: `http://127.0.0.1:${port}/hook`, secret, outbound, ...options })
  return {
    ...{ heard, sink, outbound },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A mail server; what it heard. */
async function mailServer(options: SMTPServerOptions = {}) {
  const heard: { from: string; to: string[]; mail: string; secure: boolean; user: unknown }[] = []
  const server = new SMTPServer({
    ...{ key, cert: good, authOptional: true, logger: false },
    onAuth({ username, password }, _, done) {
      if (username === 'ann' && password === 'right') done(null, { user: username })
      else done(new Error('nobody knows them'))
    },
    onRcptTo({ address }, _, done) {
      done(address.startsWith('nobody') ? new Error('there is no such box') : null)
    },
    async onData(stream, { envelope, secure, user }, done) {
      const mail = await text(stream)
      const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
      heard.push({ from, to: envelope.rcptTo.map(({ address }) => address), mail, secure, user })
      done()
    },
    ...options,
  })
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const { port } = listening.address() as AddressInfo
  const sink = (given: Partial<SmtpSinkOptions> = {}) =>
    smtpSink({ host: 'localhost', port, ca: good, from: 'Triarch <t@example.com>', to: 'ops@example.com', ...given })
  return {
    ...{ heard, sink, port },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((done) => server.close(done))
    },
  }
}

describe('a webhook that is told of alerts', () => {
  it('gets a POST that is signed, under the id of the notification', async () => {
    await using there = await endpoint([204, 200])
    await tell(there.sink())
    await tell(there.sink())
    expect(there.heard[0]).toEqual({
      type: 'alert.raised',
      id: 'n-1',
      data: { ...said, since: '1970-01-01T00:00:01.000Z', at: '1970-01-01T00:00:02.000Z' },
    })
    expect(there.heard[1]?.id).toBe('n-1')
  })

  it('was told by 2xx alone: nothing else is, a redirect is not followed, and of the answer little is said', async () => {
    const statuses = [302, 400, 429, 500]
    await using there = await endpoint([...statuses])
    for (const status of statuses) {
      const error = await Promise.resolve(tell(there.sink())).catch((it: Error) => it)
      expect((error as Error).message).toMatch(new RegExp(`answered ${status}: x{200}$`))
    }
    expect(there.heard).toHaveLength(4)
  })

  it('that does not answer is given up when nobody waits any more', async () => {
    await using there = await endpoint([0])
    const over = new AbortController()
    const telling = tell(there.sink(), {}, over.signal)
    await expect.poll(() => there.heard.length).toBe(1)
    over.abort()
    await expect(telling).rejects.toThrow()
  })

  it('goes nowhere but to the public internet, whatever name leads elsewhere', async () => {
    await using there = await endpoint()
    const inside = 'no address of the public internet'
    expect(() => webhookSink({ url: 'https://10.0.0.1/', secret })).toThrow(inside)
    expect(() => webhookSink({ url: 'http://example.com/', secret })).toThrow('only https')
    const lookup = (_: string, __: unknown, done: (error: null, all: { address: string; family: 4 }[]) => void) =>
      done(null, [{ address: '127.0.0.1', family: 4 }])
    const sink = there.sink({
      url: `http://pager.example.com:${there.outbound.ports[0]}/`,
      outbound: { ...there.outbound, allow: [], lookup: lookup as never },
    })
    await expect(tell(sink)).rejects.toThrow(inside)
    expect(there.heard).toEqual([])
  })

  it('is tried again by the engine until it takes it, and hears it under one id', async () => {
    await using there = await endpoint([503, 500, 200])
    let failed = 0
    const engine = await testEngine({
      alerts: { rules: { check: { for: 0, repeat: false } }, sinks: [there.sink({ name: 'pager' })] },
      health: { checks: { bank: () => false } },
      onError: () => failed++,
    })
    await expect
      .poll(
        async () => {
          await engine.advance('20s')
          return there.heard.length
        },
        { timeout: 20_000 },
      )
      .toBe(3)
    await engine.advance('20m')
    expect(there.heard).toHaveLength(3)
    expect(new Set(there.heard.map(({ id }) => id)).size).toBe(1)
    expect(failed).toBe(2)
    await engine.stop({ grace: 0 })
  })

  it('is not made of what makes no sense, and no error tells the secret', () => {
    const url = 'https://pager.example.com/'
    for (const wrong of [{ url: 'pager', secret }, { url, secret: 'short' }, { url, secret, other: 1 }, { url }])
      expect(() => webhookSink(wrong as never)).toThrow(/webhookSink/)
    expect(() => webhookSink({ url, secret: 'whsec_c2hvcnQ=' })).toThrow(/^((?!c2hvcnQ).)*$/)
  })
})

describe('a mailbox that is told of alerts', () => {
  it('gets a mail over a connection that is secured, from who has shown who they are', async () => {
    await using there = await mailServer()
    await tell(there.sink({ auth: { user: 'ann', pass: 'right' }, to: ['ops@example.com', 'ada@example.com'] }))
    const [{ mail, ...heard } = expect.fail('nothing was heard')] = there.heard
    const to = ['ops@example.com', 'ada@example.com']
    expect(heard).toEqual({ from: 't@example.com', to, secure: true, user: 'ann' })
    expect(mail).toMatch(/^Subject: \[Triarch\] critical: check bank: it is not well\r$/m)
    expect(mail).toMatch(/^Message-ID: <n-1@triarch.invalid>\r$/m)
    expect(mail).toMatch(/^References: <o-1@triarch.invalid>\r$/m)
    expect(mail).toMatch(/^Auto-Submitted: auto-generated\r$/m)
    expect(mail).toMatch(/^alert: check:bank\r$/m)
  })

  it('is told what is news of it', async () => {
    await using there = await mailServer()
    for (const news of ['repeated', 'ended', 'test'] as const) await tell(there.sink(), { news, message: 'x' })
    const subjects = there.heard.map(({ mail }) => /^Subject: (.*)\r$/m.exec(mail)?.[1])
    expect(subjects).toEqual(['still', 'over', 'test'].map((word) => `[Triarch] critical: ${word}: x`))
  })

  it('is told which alerts a group is of, and is left alone when it asks for that', async () => {
    await using there = await mailServer()
    const { name, opening, subject, severity, message, since } = said
    const one = { name, opening, subject, severity, message, since }
    await tell(there.sink(), { group: { count: 51, alerts: Array.from({ length: 50 }, () => one) } })
    const mail = there.heard[0]?.mail ?? ''
    expect(mail.match(/^- check:bank: /gm)).toHaveLength(50)
    expect(mail).toMatch(/^- and 1 more/m)
    const quiet = { from: '22:00', to: '07:00' }
    expect(there.sink({ quiet }).quiet).toBe(quiet)
    expect(webhookSink({ url: 'https://pager.example.com/', secret, quiet }).quiet).toBe(quiet)
  })

  it('gets nothing over a connection that is not secured, or by a server that nobody vouches for', async () => {
    await using plain = await mailServer({ disabledCommands: ['STARTTLS'] })
    await expect(tell(plain.sink())).rejects.toThrow()
    await using strange = await mailServer()
    const given = { host: 'localhost', from: 'a@example.com', to: 'b@example.com' }
    await expect(tell(smtpSink({ ...given, port: strange.port }))).rejects.toThrow(/certificate/)
    expect([...plain.heard, ...strange.heard]).toEqual([])
    await tell(smtpSink({ ...given, port: plain.port, tls: 'none' }))
    expect(plain.heard).toMatchObject([{ secure: false, user: undefined }])
  })

  it('was told where one of several takes it, and not where none does, or the server lets nobody in', async () => {
    await using there = await mailServer()
    await tell(there.sink({ to: ['nobody@example.com', 'ops@example.com'] }))
    expect(there.heard).toHaveLength(1)
    await expect(tell(there.sink({ to: 'nobody@example.com' }))).rejects.toThrow(/no such box/)
    const wrong = { auth: { user: 'ann', pass: 'wrong-pass' } }
    await expect(tell(there.sink(wrong))).rejects.toThrow(/^((?!wrong-pass).)*$/s)
  })

  it('is written to over TLS from the first byte on, where that is asked for', async () => {
    await using there = await mailServer({ secure: true })
    await tell(there.sink({ tls: 'implicit' }))
    expect(there.heard[0]?.secure).toBe(true)
  })

  it('is tried by hand', async () => {
    await using there = await mailServer()
    const engine = await testEngine({ alerts: { sinks: [there.sink()] } })
    expect(await engine.triarch.alerts.test({ sink: 'smtp' })).toMatchObject([{ sink: 'smtp', ok: true }])
    expect(there.heard[0]?.mail).toMatch(/^Subject: \[Triarch\] warning: test: /m)
    await engine.stop({ grace: 0 })
  })

  it('is not made of what makes no sense', () => {
    const fine = { host: 'mail.example.com', from: 'a@example.com', to: 'b@example.com' }
    const auth = { user: 'a', pass: 'b' }
    const wrong = [
      ...[{ host: 'a b' }, { port: 0 }, { tls: 'maybe' }, { from: 'nobody' }, { to: [] }, { to: 'a@b\r\nBcc: c@d' }],
      ...[{ auth: { user: 'a' } }, { auth, tls: 'none' }, { ca: 'x', tls: 'none' }, { other: 1 }],
    ]
    for (const options of wrong)
      expect(() => smtpSink({ ...fine, ...options } as never), JSON.stringify(options)).toThrow(/smtpSink/)
  })

  it('needs nodemailer, and says so where it is not installed', () => {
    const code = `
      import { registerHooks } from 'node:module'
      const resolve = (specifier, context, next) => {
        if (specifier === 'nodemailer') throw new Error('there is none')
        return next(specifier, context)
      }
      registerHooks({ resolve })
      const { smtpSink } = await import(${JSON.stringify(join(import.meta.dirname, '../src/sink/index.ts'))})
      try {
        smtpSink({ host: 'mail.example.com', from: 'a@example.com', to: 'b@example.com' })
      } catch ({ code, message }) {
        console.log(code, message)
      }`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
    expect(stdout).toMatch(/^PACKAGE_MISSING .*npm install nodemailer/)
  })
})
