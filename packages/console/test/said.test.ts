import { type ErrorCode, errorCatalogue, type HealthCode, type HealthDetails, type TaskWait } from 'triarch'
import { describe, expect, it } from 'vitest'
import { refusals, statuses } from '../../server/src/problem/status.ts'
import { rules } from '../../triarch/src/alert/rule.ts'
import { messages } from '../../triarch/src/health/message.ts'
import { de } from '../src/text/de.ts'
import { en } from '../src/text/en.ts'

const waits: Record<TaskWait['code'], true> = {
  ...{ frozen: true, queued: true, 'no-scheduler': true, 'workflow-paused': true, 'step-queued': true },
  ...{ 'no-agent': true, 'agent-paused': true, breaker: true, 'rate-limit': true, concurrency: true },
}
const some = { names: 'ada, bob', more: 3 }
const details: HealthDetails = {
  ...{ stopping: null, 'no-role': null, 'no-leader': null, 'no-scheduler': null, 'disk-unseen': null, none: null },
  ...{ 'replica-silent': null, 'keys-lost': null, 'no-finding': null, 'unreadable-finding': null },
  ...{ 'node-unknown': { node: 'n-7' }, 'lease-ended': { node: 'n-7', ms: 801 }, 'no-sweep': { dead: 802 } },
  'loop-blocked': { ms: 803, seconds: 804 },
  ...{ 'roles-missing': { roles: 'agent' }, 'leases-ended': some, 'timers-late': { seconds: 803 } },
  'task-waits': { task: 't-7', workflow: 'order', version: 'v9', seconds: 804 },
  ...{ 'requests-wait': { ...some, seconds: 805 }, 'nobody-hosts': some, 'breakers-open': some },
  ...{ 'schedules-late': some, 'settings-drift': some, 'read-slow': { ms: 806, most: 807 } },
  ...{ 'commit-slow': { ms: 808, most: 809 }, 'clock-ahead': { ms: 810 }, 'clock-behind': { ms: 811 } },
  ...{ 'disk-low': { mebibytes: 812, path: '/data' }, 'calls-wait': { waiting: 813, pool: 'calls' } },
  ...{ 'replica-behind': { ms: 814 }, 'keys-unread': { seconds: 815 }, silent: { ms: 816 }, 'too-slow': { ms: 817 } },
  'endpoints-down': { down: 818, all: 819, said: 'bank: 500' },
  'endpoints-unseen': { ...some, late: 820, all: 821 },
}

const codesOf = (of: object) => Object.keys(of).sort()

describe('what the server says by a code is said in both languages, and nothing is that it does not say', () => {
  it('what a task in a list waits for', () => {
    for (const { waits: words } of [en, de]) expect(codesOf(words)).toEqual([...codesOf(waits), 'more'].sort())
  })

  it('what its checks of health find, with all that is told of it', () => {
    expect(codesOf(de.said.health)).toEqual(codesOf(messages))
    for (const code of Object.keys(details) as HealthCode[]) {
      const given = Object.values(details[code] ?? {}).map(String)
      for (const says of [messages[code] as (of: unknown) => string, de.said.health[code]]) {
        const words = says?.((details[code] ?? {}) as never) ?? ''
        expect([code, given.filter((it) => !words.includes(it))], words).toEqual([code, []])
      }
    }
  })

  it('what its alerts are about', () => {
    expect(codesOf(de.said.alert)).toEqual(codesOf(rules))
    for (const [rule, says] of Object.entries(de.said.alert)) expect([rule, says('o-7')]).toEqual([rule, expect.stringContaining('o-7')]) // biome-ignore format: one line
  })

  it('its errors, and those of tasks', () => {
    const sent: Record<ErrorCode | keyof typeof refusals, unknown> = { ...statuses, ...errorCatalogue, ...refusals }
    const { UNREACHABLE, ...theirs } = de.said.problem
    expect(UNREACHABLE).toBeDefined()
    expect(codesOf(theirs)).toEqual(codesOf(sent))
  })

  it('and who ends a wait, by what keeps it', () => {
    const ends = (byHand: boolean) =>
      [en, de].map(({ why }) => {
        const words = why.reasons.breaker?.ends
        return typeof words === 'function' ? words({ step: '1', byHand }) : words
      })
    expect(ends(false)).toEqual([expect.stringContaining('A probe'), expect.stringContaining('Eine Probe')])
    expect(ends(true)).toEqual([expect.not.stringContaining('probe'), expect.not.stringContaining('Probe')])
  })
})
