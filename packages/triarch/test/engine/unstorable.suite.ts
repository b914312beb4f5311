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

type Call = (triarch: TriarchClient & Pick<Triarch, 'serving'>, text: string) => unknown

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
    (name): [string, Call] => [`the id of a task (${name})`, (triarch, text) => triarch.tasks.get(text)[name]()],
  ),
  ['the id of a task that is watched', (triarch, text) => triarch.tasks.get(text).watch().next()],
  ['the id of a task whose log is watched', (triarch, text) => triarch.tasks.get(text).watchLogs().next()],
  ['the id of a task that is signalled', (triarch, text) => triarch.tasks.get(text).signal('go', 1)],
  ...(['cancel', 'pause', 'resume', 'retry', 'compensate', 'thaw'] as const).flatMap((name) => [
    [`the id of a task (${name})`, (triarch, text) => triarch.tasks.get(text)[name]()] satisfies [string, Call],
    ...said(name, (triarch, _, remark) => triarch.tasks.get('t')[name](remark)),
  ]),
  ...said('skip', (triarch, _, remark) => triarch.tasks.get('t').skip({ step: 1, ...remark })),
  ['the name of a signal', (triarch, text) => triarch.tasks.get('t').signal(text, 1)],
  ['the key of a request', (triarch, text) => triarch.tasks.get('t').once(text).cancel()],
  ['the cursor of children', (triarch, text) => triarch.tasks.get('t').children({ cursor: text })],
  ['the workflow of children', (triarch, text) => triarch.tasks.get('t').children({ workflow: text })],
  ['a token', (triarch, text) => triarch.tasks.resume(text)],
  ['the signal of a token', (triarch, text) => triarch.tasks.resume('t', 1, { name: text })],
  [
    'the id of an import',
    (triarch, text) => triarch.tasks.import({ format: 1, task: text, veiled: false, records: [] }),
  ],
  ...said('an import', (triarch, _, remark) =>
    triarch.tasks.import({ format: 1, task: 'i', veiled: false, records: [] }, remark),
  ),
  ...(['cursor', 'workflow', 'version', 'parent'] as const).map((name): [string, Call] => [
    `the ${name} of a list`,
    (triarch, text) => triarch.tasks.list({ [name]: text }),
  ]),
  ['the name of a tag of a list', (triarch, text) => triarch.tasks.list({ tags: { [text]: 'x' } })],
  ['a tag of a list', (triarch, text) => triarch.tasks.list({ tags: { x: text } })],
  ['the filter of a list', (triarch, text) => triarch.tasks.list({ filter: `workflow:"${text}"` })],
  ['a filter that counts', (triarch, text) => triarch.tasks.count({ filter: `workflow:"${text}"` })],
  ['a filter that watches', (triarch, text) => triarch.tasks.watch({ filter: `workflow:"${text}"` }).next()],
  ['the filter of an operation', (triarch, text) => triarch.tasks.operate({ ...none, filter: `workflow:"${text}"` })],
  ['the id of an operation', (triarch, text) => triarch.tasks.operate(none, { id: text })],
  ...said('an operation', (triarch, _, remark) => triarch.tasks.operate({ ...none, ...remark })),
  ...(['workflows', 'agents', 'locks', 'leaders', 'settings', 'schedules', 'breakers'] as const).map(
    (name): [string, Call] => [`the cursor of ${name}`, (triarch, text) => triarch[name].list({ cursor: text })],
  ),
  ['the cursor of probes', (triarch, text) => triarch.health.probes({ cursor: text })],
  ...(['rateLimits', 'alerts', 'keys', 'audit'] as const).map((name): [string, Call] => [
    `the cursor of ${name}`,
    (triarch, text) => triarch[name].list({ cursor: text }),
  ]),
  ['the name of a probe', (triarch, text) => triarch.health.probes({ names: [text] })],
  ['the name of a health check', (triarch, text) => triarch.health.check({ checks: [text] })],
  ...(['actor', 'action', 'subject'] as const).map((name): [string, Call] => [
    `the ${name} of audited acts`,
    (triarch, text) => triarch.audit.list({ [name]: text }),
  ]),
  ...(['workflow', 'agent', 'action', 'outcome', 'error', 'tag'] as const).map((name): [string, Call] => [
    `the ${name} of statistics`,
    (triarch, text) => triarch.statistics.figures({ [name]: text }),
  ]),
  ...said('a recount', (triarch, _, remark) => triarch.statistics.recount(remark)),
  ...said('a rotated secret', (triarch, _, remark) => triarch.keys.rotateSecret(remark as { reason: string })),
  ['a tag of kept answers', (triarch, text) => triarch.caches.invalidate({ tag: text })],
  ['an action of kept answers', (triarch, text) => triarch.caches.invalidate({ action: `clerk.${text}` })],
  ['an action with a key', (triarch, text) => triarch.caches.invalidate({ action: `clerk.${text}`, key: 'x' })],
  ['an action by its name', (triarch, text) => triarch.caches.invalidate(`clerk.${text}`, 'x')],
  ['an action by its definition', (triarch, text) => triarch.caches.invalidate({ key: `clerk.${text}` })],
  ['the reason of an invalidation', (triarch, text) => triarch.caches.invalidate({ tag: 'x', reason: text })],
  ['whoever acts', (triarch, text) => triarch.serving.acting({ actor: text }, () => triarch.tasks.get('t').cancel())],
  ['the request for which one acts', (triarch, text) => triarch.serving.acting({ request: text }, () => 1)],
  ...(['info', 'next', 'pause', 'resume', 'run', 'remove'] as const).map((name): [string, Call] => [
    `a schedule (${name})`,
    (triarch, text) => triarch.schedules.get(text)[name](),
  ]),
  ...(['pause', 'resume', 'run', 'remove'] as const).map((name): [string, Call] => [
    `the reason of a schedule's ${name}`,
    (triarch, text) => triarch.schedules.get('s')[name]({ reason: text }),
  ]),
  [
    'a new schedule',
    (triarch, text) => triarch.schedules.get(text).register({ workflow: flow, input: 'x', every: '1d' }),
  ],
  ...(['tags', 'metadata'] as const).flatMap((name): [string, Call][] =>
    [(text: string) => ({ [text]: 'x' }), (text: string) => ({ x: text })].map((of, at) => [
      `${at === 0 ? 'the names of ' : ''}${name} of a schedule`,
      (triarch, text) =>
        triarch.schedules.get('s').register({ workflow: flow, input: 'x', every: '1d', [name]: of(text) }),
    ]),
  ),
  ['the id of a run', (triarch, text) => triarch.schedules.get('s').run({ id: text })],
  ['a breaker', (triarch, text) => triarch.breakers.get(text).info()],
  ...said('a breaker', (triarch, _, remark) =>
    triarch.breakers.get('clerk').close(remark as { reason: string; actor: string }),
  ),
  ...said('an open breaker', (triarch, _, remark) =>
    triarch.breakers.get('clerk').open(remark as { reason: string; actor: string }),
  ),
  ['a rate limit', (triarch, text) => triarch.rateLimits.get(text).info()],
  ...said('a rate limit', (triarch, _, remark) =>
    triarch.rateLimits.get('clerk').lift(remark as { reason: string; actor: string; until: Date }),
  ),
  ['an alert', (triarch, text) => triarch.alerts.get(text).info()],
  ...said('an alert', (triarch, _, remark) =>
    triarch.alerts.get('a').silence({ ...(remark as { reason: string; actor: string }), until: hour() }),
  ),
  ...said('an ended alert', (triarch, _, remark) =>
    triarch.alerts.get('a').end(remark as { reason: string; actor: string }),
  ),
  ['the sink of a test', (triarch, text) => triarch.alerts.test({ sink: text })],
  ...said('a tested alert', (triarch, _, remark) => triarch.alerts.test(remark)),
  ['a setting', (triarch, text) => triarch.settings.get(text).info()],
  ['a setting that is set', (triarch, text) => triarch.settings.get(text).set(1, { reason: 'a test' })],
  ['the history of a setting', (triarch, text) => triarch.settings.get(text).history()],
  ...said('a setting', (triarch, _, remark) => triarch.settings.get(limits).set({}, remark as { reason: string })),
  ...said('a cleared setting', (triarch, _, remark) =>
    triarch.settings.get(limits).clear(remark as { reason: string }),
  ),
  ...said('a rolled back setting', (triarch, _, remark) =>
    triarch.settings.get(limits).rollback(remark as { reason: string }),
  ),
  ['a key', (triarch, text) => triarch.keys.get(text).info()],
  ['a new key', (triarch, text) => triarch.keys.get(text).create({ rights: ['read'] })],
  ['the note of a key', (triarch, text) => triarch.keys.get('k').create({ rights: ['read'], note: text })],
  ...said('a key', (triarch, _, remark) => triarch.keys.get('k').create({ rights: ['read'], ...remark })),
  ...said('a rotated key', (triarch, _, remark) => triarch.keys.get('k').rotate(remark as { reason: string })),
  ...said('a revoked key', (triarch, _, remark) => triarch.keys.get('k').revoke(remark as { reason: string })),
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
      await triarch.schedules.get('s').register({ workflow: flow, input: 'x', every: '1d' })
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
