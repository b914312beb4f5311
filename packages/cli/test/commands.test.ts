// Each command of `triarch --help`, in a process of its own, on a store with something of everything.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exitCodes } from '../src/exit.ts'
import { programOf } from '../src/program.ts'
import { run } from '../src/run.ts'
import { processTerminal } from '../src/terminal.ts'
import { shop, triarch } from './binary.ts'
import * as definitions from './shop.ts'

const folder = mkdtempSync(join(tmpdir(), 'triarch-commands-'))
const store = join(folder, 'shop.db')
const exported = join(folder, 'done.json')
const env = { TRIARCH_STORE: store, XDG_CONFIG_HOME: folder, HOME: folder, TRIARCH_ACTOR: 'ada' }
const { letter, approval, careful, desk, bank } = definitions
let engine: Triarch

beforeAll(async () => {
  const workflows = [letter, approval, careful]
  engine = new Triarch({ store: sqlite(store), workflows, agents: [desk, bank], operations: true, notices: false })
  await engine.start()
  await engine.schedule('nightly').register({ workflow: letter, input: 'night', cron: '0 3 * * *' })
  for (const id of ['done', 'old']) await (await engine.submit(letter, 'hello', { id })).result()
  await (await engine.submit(letter, 'bad', { id: 'failed' })).result().catch(() => undefined)
  for (const id of ['a', 'b', 'c', 'd']) await engine.submit(approval, id, { id })
  for (const id of ['held', 'stuck']) await engine.submit(careful, 'bad', { id })
  for (const id of ['held', 'stuck'])
    for await (const { status } of engine.task(id).watch()) if (status === 'paused') break
})
afterAll(async () => {
  await engine.stop({ grace: 0 })
  rmSync(folder, { recursive: true, force: true })
})

type Call = readonly [command: string, given: readonly string[], said: RegExp, exit?: number]

const why = ['--reason', 'a test']
/** What follows from another comes after it; these run side by side. */
const chains: readonly (readonly Call[])[] = [
  [
    ['task list', ['status:stopped'], /^done +letter@1 +success/m],
    ['task get', ['failed'], /^error +.*not a word to stamp$/m],
    ['task watch', ['done'], /success/],
    ['task history', ['failed'], /failed.*not a word to stamp/],
    ['task steps', ['done'], /^1 +\S+ +desk\.stamp +success +1 +HELLO$/m],
    ['task explain', ['d'], /^why +.*approved/m],
    ['task logs', ['done'], /stamping/],
  ],
  [
    ['task start', ['letter', '--app', shop, '--input', '"x"', '--id', 'new', '--wait'], /^output +X$/m],
    ['task pause', ['a', ...why], /asked to pause/],
    ['task resume', ['a'], /asked to resume/],
    ['task signal', ['a', 'approved', '"yes"', '--wait'], /^outcome +success$/m],
    ['task cancel', ['b', '--yes', '--wait'], /^outcome +cancelled$/m],
  ],
  [
    ['task retry', ['held', '--wait', '--timeout', '2s'], /^$/, exitCodes.timeout],
    ['task skip', ['held', '--step', '1', '--yes', '--wait'], /^outcome +warning$/m],
    ['task compensate', ['old', '--yes', '--wait'], /^outcome +compensated$/m],
  ],
  [
    ['schedule list', [], /^nightly +letter@1 +0 3 \* \* \*/m],
    ['schedule get', ['nightly'], /^workflow +letter@1$/m],
    ['schedule pause', ['nightly', ...why], /paused/],
    ['schedule resume', ['nightly'], /resumed/],
    ['schedule run', ['nightly', '--id', 'by-hand'], /^task +by-hand$/m],
    ['schedule next', ['nightly', '--count', '2'], /03:00:00\n.*03:00:00/],
    ['schedule backfill', ['nightly', '--from', '2026-01-01', '--to', '2026-01-03', '--yes'], /^TASK\n(?:\S+\n){2}$/],
    ['schedule remove', ['nightly', '--yes'], /removed/],
  ],
  [
    ['operation preview', ['id:c'], /1/],
    ['operation start', ['cancel', 'id:c', '--yes', '--id', 'op', '--wait', ...why], /op/],
    ['operation list', [], /op/],
    ['operation get', ['op'], /cancel/],
    ['operation cancel', ['op', ...why], /^/, exitCodes.conflict],
  ],
  [
    ['node list', [], /scheduler/],
    ['stats', [], /^tasks +\d+/m],
    ['workflow list', [], /^letter/m],
    ['agent list', [], /^desk/m],
    ['lock list', [], /^nobody has a lock$/m],
    ['leader list', [], /^nobody ever led$/m],
    ['demand', [], /desk|AGENT|no /],
    ['statistics', [], /^/],
    ['recount', ['--yes', '--json', ...why], /"recount": "begun"/],
    ['health', ['--json'], /"status"/],
    ['doctor', [], /^ok +schema/m],
  ],
  [
    ['rate-limit list', [], /^bank/m],
    ['rate-limit change', ['bank', '--limit', '5', '--per', '1s', ...why], /bank/],
    ['rate-limit lift', ['bank', '--yes', ...why], /bank/],
    ['rate-limit restore', ['bank', ...why], /bank/],
    ['breaker list', [], /^bank/m],
    ['breaker get', ['bank'], /^state +closed$/m],
    ['breaker open', ['bank', '--yes', ...why], /open/],
    ['breaker close', ['bank', ...why], /closed|releasing/],
    ['breaker reset', ['bank', ...why], /bank/],
    ['cache invalidate', ['desk.stamp', '--json'], /"action": "desk.stamp"/],
  ],
  [
    ['setting set', ['triarch.agent.desk', '{"priority":2}', ...why], /desk/],
    ['setting list', [], /^triarch\.agent\.desk/m],
    ['setting get', ['triarch.agent.desk'], /priority/],
    ['setting rollout', ['triarch.agent.desk', ...why], /^/, exitCodes.conflict],
    ['setting history', ['triarch.agent.desk'], /ada/],
    ['setting diff', ['triarch.agent.desk', '1', '1'], /^/],
    ['setting rollback', ['triarch.agent.desk', '--to', '1', ...why], /^/],
  ],
  [
    ['key create', ['billing', '--rights', 'read'], /billing/],
    ['key list', [], /^billing/m],
    ['key get', ['billing'], /read/],
    ['key rotate', ['billing', ...why], /billing/],
    ['key revoke', ['billing', '--yes', ...why], /billing/],
    ['secret rotate', [...why], /old tokens until/],
    ['audit', [], /ada/],
  ],
  [
    ['alert list', [], /^nothing is wrong/],
    ['alert get', ['none'], /^$/, exitCodes.absent],
    ['alert test', [], /^there is no sink/, exitCodes.failed],
    ['alert acknowledge', ['none', ...why], /^$/, exitCodes.absent],
    ['alert silence', ['none', '--until', '2030-01-01', ...why], /^$/, exitCodes.absent],
    ['alert end', ['none', '--yes', ...why], /^$/, exitCodes.absent],
    ['probe list', [], /^no endpoint/],
    ['probe history', ['none'], /^$/, exitCodes.absent],
  ],
  [
    ['profile set', ['here', '--store', store], /^/],
    ['profile list', [], /here/],
    ['profile use', ['here'], /^/],
    ['profile remove', ['here', '--yes'], /^/],
    ['migrate status', [], /^nothing is pending/],
    ['migrate check', [], /nothing/],
    ['migrate up', [], /nothing was pending/],
    ['completion', ['bash'], /complete/],
  ],
  [
    ['export', ['failed', '--output', exported], /^/],
    ['import', [exported, '--store', join(folder, 'other.db')], /^$/, exitCodes.absent],
    ['replay', [exported, shop], /^agrees +yes$/m],
  ],
]

/** They go on until somebody ends them: `dev.test.ts`, `terminal.test.ts`. */
const endless = ['start', 'dev', 'top']

it.concurrent.each(chains.map((chain) => [chain[0]?.[0].split(' ')[0] ?? '', chain] as const))(
  'the commands from "%s" on do what they say, as processes of their own',
  async (_, chain) => {
    const wrong: unknown[] = []
    for (const [command, given, said, exit = 0] of chain) {
      const ended = await triarch([...command.split(' '), ...given], env)
      if (ended.exit !== exit || !said.test(ended.out) || (exit === 0 && ended.err !== '')) wrong.push([command, ended])
    }
    expect(wrong).toEqual([])
  },
)

it('each command of the runbook is understood, with something in place of its capitals', async () => {
  const page = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8')
  const spans = [...page.matchAll(/`triarch ([^`]+)`/g)].map(([, line = '']) => line)
  const given: Readonly<Record<string, string>> = {
    ID: 'd',
    STEP: '1',
    NAME: 'none',
    HOST: 'none',
    AGENT: 'none',
    TEXT: 'a test',
  }
  const asks = ['skip', 'end', 'start', 'cancel', 'compensate']
  const wrong: unknown[] = []
  for (const line of new Set(spans)) {
    const words = (line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll(/^["']|["']$/g, ''))
    const args = words.map((word) =>
      word.replace('RULE:SUBJECT', 'none:none').replaceAll(/\b[A-Z]+\b/g, (name) => given[name] ?? name),
    )
    // In this process: what the commands do when they are processes of their own is the business of the chains above.
    const said: string[] = []
    const terminal = { ...processTerminal(), env, out: () => undefined, err: (text: string) => void said.push(text) }
    const exit = await run([...args, ...(asks.includes(args[1] ?? '') ? ['--yes'] : [])], terminal)
    const left = args.some((word) => /^[A-Z]{2,}$/.test(word))
    if (left || exit === exitCodes.usage || exit === exitCodes.unavailable) wrong.push([line, exit, said])
  }
  expect(spans.length).toBeGreaterThan(20)
  expect(wrong).toEqual([])
})

it('none is left out', () => {
  const leaves = (command: Command, path: readonly string[]): string[] =>
    command.commands.length === 0
      ? [path.join(' ')]
      : command.commands.flatMap((one) => leaves(one, [...path, one.name()]))
  const all = leaves(
    programOf(processTerminal(), () => undefined),
    [],
  )
  expect([...chains.flat().map(([command]) => command), ...endless].sort()).toEqual(all.sort())
})
