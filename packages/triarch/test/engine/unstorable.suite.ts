import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agent, isTriarchError, setting, Triarch, type TriarchClient, workflow } from '../../src/index.ts'
import type { Shared } from './breaker.suite.ts'

/** Texts that PostgreSQL cannot keep, and that UTF-8 cannot encode. */
const bad = { NUL: 'a\0b', 'half of a surrogate pair': 'a\ud800b' }

const clerk = agent('clerk')
const look = clerk.action('look', { cache: { ttl: '1m' }, run: (key: string) => key })
const flow = workflow('flow', { run: (key: string, task) => task.run(look, key) })
const keyed = workflow('keyed', { exclusive: { key: (key: string) => key }, run: async (_: string) => null })
const anything = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const
const limits = setting('shop.limits', anything, { perNode: 1 })
const none = { filter: 'workflow:none', action: 'cancel', confirm: 1 } as const
const hour = () => new Date(Date.now() + 3_600_000)

type Call = (triarch: TriarchClient & Pick<Triarch, 'acting'>, text: string) => unknown

/** The same call with the text as its reason and as its actor. */
const said = (what: string, call: (...of: [...Parameters<Call>, object]) => unknown): [string, Call][] => [
  [`the reason of ${what}`, (triarch, text) => call(triarch, text, { reason: text, actor: 'ada' })],
  [`the actor of ${what}`, (triarch, text) => call(triarch, text, { reason: 'a test', actor: text })],
]

/** Every call of the client that takes a text, "t" being a task that exists. */
const calls: [what: string, call: Call][] = [
  ['the id of a new task', (triarch, text) => triarch.submit(flow, 'x', { id: text })],
  [
    'the id of one of many',
    async (triarch, text) => {
      const [one] = await triarch.submitMany(flow, [{ input: 'x', id: text }])
      if (one?.status === 'rejected') throw one.reason
    },
  ],
  ['the task that another comes after', (triarch, text) => triarch.submit(flow, 'x', { after: text })],
  ['the name of a tag', (triarch, text) => triarch.submit(flow, 'x', { tags: { [text]: 'x' } })],
  ['a tag', (triarch, text) => triarch.submit(flow, 'x', { tags: { x: text } })],
  ['the name of metadata', (triarch, text) => triarch.submit(flow, 'x', { metadata: { [text]: 'x' } })],
  ['metadata', (triarch, text) => triarch.submit(flow, 'x', { metadata: { x: text } })],
  ['a lock that the workflow names', (triarch, text) => triarch.submit(keyed, text)],
  ['a lock that the submission names', (triarch, text) => triarch.submit(flow, 'x', { exclusive: { key: text } })],
  ...(['status', 'steps', 'history', 'moment', 'export', 'plan', 'children', 'logs', 'explain', 'result'] as const).map(
    (name): [string, Call] => [`the id of a task (${name})`, (triarch, text) => triarch.task(text)[name]()],
  ),
  ['the id of a task that is watched', (triarch, text) => triarch.task(text).watch().next()],
  ['the id of a task whose log is watched', (triarch, text) => triarch.task(text).watchLogs().next()],
  ['the id of a task that is signalled', (triarch, text) => triarch.task(text).signal('go', 1)],
  ...(['cancel', 'pause', 'resume', 'retry', 'compensate', 'thaw'] as const).flatMap((name) => [
    [`the id of a task (${name})`, (triarch, text) => triarch.task(text)[name]()] satisfies [string, Call],
    ...said(name, (triarch, _, remark) => triarch.task('t')[name](remark)),
  ]),
  ...said('skip', (triarch, _, remark) => triarch.task('t').skip({ step: 1, ...remark })),
  ['the name of a signal', (triarch, text) => triarch.task('t').signal(text, 1)],
  ['the key of a request', (triarch, text) => triarch.task('t').once(text).cancel()],
  ['the cursor of children', (triarch, text) => triarch.task('t').children({ cursor: text })],
  ['the workflow of children', (triarch, text) => triarch.task('t').children({ workflow: text })],
  ['a token', (triarch, text) => triarch.resume(text)],
  ['the signal of a token', (triarch, text) => triarch.resume('t', 1, { name: text })],
  ['the id of an import', (triarch, text) => triarch.import({ format: 1, task: text, veiled: false, records: [] })],
  ...said('an import', (triarch, _, remark) =>
    triarch.import({ format: 1, task: 'i', veiled: false, records: [] }, remark),
  ),
  ...(['cursor', 'workflow', 'version', 'parent'] as const).map((name): [string, Call] => [
    `the ${name} of a list`,
    (triarch, text) => triarch.list({ [name]: text }),
  ]),
  ['the name of a tag of a list', (triarch, text) => triarch.list({ tags: { [text]: 'x' } })],
  ['a tag of a list', (triarch, text) => triarch.list({ tags: { x: text } })],
  ['the filter of a list', (triarch, text) => triarch.list({ filter: `workflow:"${text}"` })],
  ['a filter that counts', (triarch, text) => triarch.count({ filter: `workflow:"${text}"` })],
  ['a filter that watches', (triarch, text) => triarch.watch({ filter: `workflow:"${text}"` }).next()],
  ['the filter of an operation', (triarch, text) => triarch.operate({ ...none, filter: `workflow:"${text}"` })],
  ['the id of an operation', (triarch, text) => triarch.operate(none, { id: text })],
  ...said('an operation', (triarch, _, remark) => triarch.operate({ ...none, ...remark })),
  ...(['workflows', 'agents', 'locks', 'leaders', 'probes', 'settings', 'schedules', 'breakers'] as const).map(
    (name): [string, Call] => [`the cursor of ${name}`, (triarch, text) => triarch[name]({ cursor: text })],
  ),
  ...(['rateLimits', 'alerts', 'keys', 'audit'] as const).map((name): [string, Call] => [
    `the cursor of ${name}`,
    (triarch, text) => triarch[name]({ cursor: text }),
  ]),
  ['the name of a probe', (triarch, text) => triarch.probes({ names: [text] })],
  ['the name of a health check', (triarch, text) => triarch.health({ checks: [text] })],
  ...(['actor', 'action', 'subject'] as const).map((name): [string, Call] => [
    `the ${name} of audited acts`,
    (triarch, text) => triarch.audit({ [name]: text }),
  ]),
  ...(['workflow', 'agent', 'action', 'outcome', 'error', 'tag'] as const).map((name): [string, Call] => [
    `the ${name} of statistics`,
    (triarch, text) => triarch.statistics({ [name]: text }),
  ]),
  ...said('a recount', (triarch, _, remark) => triarch.recount(remark)),
  ...said('a rotated secret', (triarch, _, remark) => triarch.rotateSecret(remark as { reason: string })),
  ['a tag of kept answers', (triarch, text) => triarch.invalidate({ tag: text })],
  ['an action of kept answers', (triarch, text) => triarch.invalidate({ action: `clerk.${text}` })],
  ['an action with a key', (triarch, text) => triarch.invalidate({ action: `clerk.${text}`, key: 'x' })],
  ['an action by its name', (triarch, text) => triarch.invalidate(`clerk.${text}`, 'x')],
  ['an action by its definition', (triarch, text) => triarch.invalidate({ key: `clerk.${text}` })],
  ['the reason of an invalidation', (triarch, text) => triarch.invalidate({ tag: 'x', reason: text })],
  ['whoever acts', (triarch, text) => triarch.acting({ actor: text }, () => triarch.task('t').cancel())],
  ['the request for which one acts', (triarch, text) => triarch.acting({ request: text }, () => 1)],
  ...(['info', 'next', 'pause', 'resume', 'run', 'remove'] as const).map((name): [string, Call] => [
    `a schedule (${name})`,
    (triarch, text) => triarch.schedule(text)[name](),
  ]),
  ...(['pause', 'resume', 'run', 'remove'] as const).map((name): [string, Call] => [
    `the reason of a schedule's ${name}`,
    (triarch, text) => triarch.schedule('s')[name]({ reason: text }),
  ]),
  ['a new schedule', (triarch, text) => triarch.schedule(text).register({ workflow: flow, input: 'x', every: '1d' })],
  ...(['tags', 'metadata'] as const).flatMap((name): [string, Call][] =>
    [(text: string) => ({ [text]: 'x' }), (text: string) => ({ x: text })].map((of, at) => [
      `${at === 0 ? 'the names of ' : ''}${name} of a schedule`,
      (triarch, text) => triarch.schedule('s').register({ workflow: flow, input: 'x', every: '1d', [name]: of(text) }),
    ]),
  ),
  ['the id of a run', (triarch, text) => triarch.schedule('s').run({ id: text })],
  ['a breaker', (triarch, text) => triarch.breaker(text).info()],
  ...said('a breaker', (triarch, _, remark) =>
    triarch.breaker('clerk').close(remark as { reason: string; actor: string }),
  ),
  ...said('an open breaker', (triarch, _, remark) =>
    triarch.breaker('clerk').open(remark as { reason: string; actor: string }),
  ),
  ['a rate limit', (triarch, text) => triarch.rateLimit(text).info()],
  ...said('a rate limit', (triarch, _, remark) =>
    triarch.rateLimit('clerk').lift(remark as { reason: string; actor: string; until: Date }),
  ),
  ['an alert', (triarch, text) => triarch.alert(text).info()],
  ...said('an alert', (triarch, _, remark) =>
    triarch.alert('a').silence({ ...(remark as { reason: string; actor: string }), until: hour() }),
  ),
  ...said('an ended alert', (triarch, _, remark) =>
    triarch.alert('a').end(remark as { reason: string; actor: string }),
  ),
  ['the sink of a test', (triarch, text) => triarch.testAlert({ sink: text })],
  ...said('a tested alert', (triarch, _, remark) => triarch.testAlert(remark)),
  ['a setting', (triarch, text) => triarch.setting(text).get()],
  ['a setting that is set', (triarch, text) => triarch.setting(text).set(1, { reason: 'a test' })],
  ['the history of a setting', (triarch, text) => triarch.setting(text).history()],
  ...said('a setting', (triarch, _, remark) => triarch.setting(limits).set({}, remark as { reason: string })),
  ...said('a cleared setting', (triarch, _, remark) => triarch.setting(limits).clear(remark as { reason: string })),
  ...said('a rolled back setting', (triarch, _, remark) =>
    triarch.setting(limits).rollback(remark as { reason: string }),
  ),
  ['a key', (triarch, text) => triarch.key(text).info()],
  ['a new key', (triarch, text) => triarch.key(text).create({ rights: ['read'] })],
  ['the note of a key', (triarch, text) => triarch.key('k').create({ rights: ['read'], note: text })],
  ...said('a key', (triarch, _, remark) => triarch.key('k').create({ rights: ['read'], ...remark })),
  ...said('a rotated key', (triarch, _, remark) => triarch.key('k').rotate(remark as { reason: string })),
  ...said('a revoked key', (triarch, _, remark) => triarch.key('k').revoke(remark as { reason: string })),
]

/** Calls that refuse any other text of no form of theirs with the same code, or that wait for more. */
const ofOwnForm: ReadonlySet<string> = new Set([
  ...['the cursor of children', 'the cursor of a list', 'the cursor of audit'],
  ...['the name of a health check', 'the sink of a test', 'a filter that watches'],
  ...['the id of a task that is watched', 'the id of a task whose log is watched'],
])

/** Texts that the store could not keep are refused before it is asked, by every call that takes one. */
export function unstorableSuite(name: string, make: () => Promise<Shared>): void {
  describe(name, () => {
    let triarch: Triarch
    let shared: Shared
    beforeAll(async () => {
      shared = await make()
      triarch = new Triarch({ store: shared.store, workflows: [flow, keyed], agents: [clerk], settings: [limits] })
      await triarch.start()
      await (await triarch.submit(flow, 'x', { id: 't' })).result()
      await triarch.schedule('s').register({ workflow: flow, input: 'x', every: '1d' })
    })
    afterAll(async () => {
      await triarch.stop({ grace: 0 })
      await shared.dispose()
    })

    it.each(calls.filter(([what]) => !ofOwnForm.has(what)))('is all that is wrong with it as %s', async (_, call) => {
      expect(await refusalOf(() => call(triarch, 'x.x'))).not.toMatch(/^INVALID_(OPTION|FILTER)/)
    })

    describe.each(Object.entries(bad))('with %s', (_, text) => {
      it.each(calls)('is refused by a code as %s', async (_, call) => {
        // Whatever the store itself refuses has another code.
        expect(await refusalOf(() => call(triarch, text))).toMatch(/^(INVALID|UNKNOWN|ILLEGAL|IMPORT)_|TOKEN/)
      })
    })
  })
}

async function refusalOf(call: () => unknown): Promise<string> {
  try {
    await call()
    return 'nothing was refused'
  } catch (error) {
    return isTriarchError(error) ? error.code : String(error)
  }
}
