import { join } from 'node:path'
import type { Triarch } from 'triarch'
import { exitCodes } from '../src/exit.ts'
import { shop } from './binary.ts'
import { approval, careful, letter } from './shop.ts'

export type Call = readonly [command: string, given: readonly string[], said: RegExp, exit?: number]

/** Submits what the commands act on, and waits until each task is as far as it comes. */
export async function stock(engine: Triarch): Promise<void> {
  await engine.schedules.get('nightly').register({ workflow: letter, input: 'night', cron: '0 3 * * *' })
  for (const id of ['done', 'old']) await (await engine.submit(letter, 'hello', { id })).result()
  await (await engine.submit(letter, 'bad', { id: 'failed' })).result().catch(() => undefined)
  for (const id of ['a', 'b', 'c', 'd']) await engine.submit(approval, id, { id })
  for (const id of ['held', 'stuck']) await engine.submit(careful, 'bad', { id })
  for (const id of ['held', 'stuck'])
    for await (const { status } of engine.tasks.get(id).watch()) if (status === 'paused') break
}

const why = ['--reason', 'a test']
/** What follows from another comes after it; these run side by side. */
export const chainsOn = (folder: string, store: string, exported: string): readonly (readonly Call[])[] => [
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
export const endless = ['start', 'dev', 'top']
