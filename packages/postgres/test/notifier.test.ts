import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hint } from '../../triarch/src/store/port.ts'
import { handClock, turn } from '../../triarch/test/store/clock.ts'
import type { News } from '../src/news.ts'
import { Notifier } from '../src/notifier.ts'
import { settingsOf } from '../src/options.ts'
import { type Counting, counting } from './counting.ts'
import { type Answer, type Asked, type Puppet, processOf, puppet, spoken } from './puppet.ts'

const MEMBERS = 'SELECT id, roles, runs'
const UNTAKEN = '.untaken()'
const NOTIFY = 'pg_notify'

interface Member {
  id: string
  roles: string
  runs: string | null
}

const scheduler = (id: string, workflows: string[] = ['w@1']): Member => ({
  id,
  roles: '["scheduler"]',
  runs: JSON.stringify({ workflows, actions: [] }),
})
const agent = (id: string, actions: string[]): Member => ({
  id,
  roles: '["agent"]',
  runs: JSON.stringify({ workflows: [], actions }),
})

describe('hints', () => {
  let clock: Counting
  let server: Puppet
  let hints: Notifier
  let members: Member[]
  let untaken: string
  /** Statements with this text are answered so. */
  let instead: [text: string, answer: Answer] | null
  let heard: unknown[]

  const answer = ({ text }: Asked): Answer => {
    if (instead && text.includes(instead[0])) return instead[1]
    if (text.includes(MEMBERS)) return members.map((it) => ({ ...it }))
    return text.includes(UNTAKEN) ? [{ untaken }] : []
  }
  const made = () => {
    const made = new Notifier(clock, settingsOf({ url: server.url, answerWithin: 5_000 }))
    made.node = 'n'
    made.onHint((of: readonly Hint[]) => heard.push(...(of.length > 0 ? of : ['nothing'])))
    return made
  }
  /** The words of each notification so far. */
  const said = () =>
    server.asked
      .filter(({ text }) => text.includes(NOTIFY))
      .map((asked) => spoken(asked).map(([, words]) => words.split(' ')))
  const count = (of: string) => server.asked.filter(({ text }) => text.includes(of)).length
  /** What these news become, and all that came before. */
  const told = async (...news: News[]) => {
    const before = said().length
    hints.tell(news)
    await server.heard(NOTIFY, before)
    if (instead === null) await settled()
    return said()[before]?.flat()
  }
  /** Until that much later words are heard. */
  const hear = async (...payloads: string[]) => {
    heard.length = 0
    const mark = Promise.withResolvers<void>()
    hints.attend((ids) => (ids?.includes('mark') ? mark.resolve() : heard.push({ ended: ids })))
    for (const payload of [...payloads, '.mark']) server.notify(payload)
    await mark.promise
    return heard
  }
  /** Until nothing is under way: whatever is has a timer. */
  const settled = async () => {
    while (clock.waiting > 0) await turn()
  }
  const away = async () => {
    while (hints.alive) await turn()
  }
  /** Lets time pass, too. */
  const back = async () => {
    while (!hints.alive) {
      clock.advance(10)
      await turn()
    }
  }

  beforeEach(async () => {
    clock = counting(handClock())
    heard = []
    members = [scheduler('a'), scheduler('b', ['v@1']), agent('c', ['x'])]
    untaken = '{}'
    instead = null
    server = await puppet(answer)
    hints = made()
    await hints.open()
  })
  afterEach(async () => {
    await hints.close()
    await server[Symbol.asyncDispose]()
  })

  it('are listened for on the channel of the schema and on one of its own, and what was said before is looked for', () => {
    const listened = `LISTEN "triarch_triarch"; LISTEN "triarch_${hints.own}"`
    expect(server.asked.map(({ text }) => text)).toEqual([listened])
    expect(made().own).not.toBe(hints.own)
    expect([hints.alive, heard]).toEqual([true, ['work', 'tasks', 'mail', 'settings', 'rests']])
  })

  it.each<[payload: string, heard: unknown[]]>([
    ['*', ['work', 'tasks', 'mail', 'settings', 'rests', { ended: null }]],
    ['work tasks', []],
    ['~ & x', ['rests']],
    ['@n', ['mail']],
    ['=n', ['tasks']],
    ['+n', ['work']],
    ['@m', []],
    ['=m', []],
    ['+m', []],
    ['n', []],
    ['.a%20b .c', [{ ended: ['a b', 'c'] }]],
    ['@n =m +n @n .t', ['mail', 'work', { ended: ['t'] }]],
    ['.% .%E0%A4%A .t', [{ ended: ['t'] }]], // rubbish of somebody who may connect, and no end of this process
  ])('%s wakes whom it is for', async (payload, expected) => {
    expect(await hear(payload)).toEqual(expected)
  })

  it('of its own are not heard', async () => {
    server.notify('@n', processOf(1))
    expect(await hear('=n')).toEqual(['tasks'])
  })

  it('may be those of the process itself', () => {
    heard.length = 0
    hints.wakeSelf(['mail'])
    expect(heard).toEqual(['mail'])
  })

  it('that somebody waits are believed for a while', async () => {
    expect(hints.awaited).toBe(false)
    await hear('?@1')
    await settled()
    clock.advance(11_999)
    expect(hints.awaited).toBe(true)
    clock.advance(1)
    expect(hints.awaited).toBe(false)
  })

  it('that somebody here waits are given now and then', async () => {
    expect(made().attend(() => undefined)).toBe(false)
    expect(hints.attend(() => undefined)).toBe(false) // nobody knows yet who there is
    await server.heard(NOTIFY)
    expect(said()).toEqual([[[`?${hints.own}`]]])
    await settled()
    expect(hints.attend(() => undefined)).toBe(true)
    clock.advance(3_999)
    hints.attend(() => undefined)
    await settled()
    expect(said()).toHaveLength(1)
    clock.advance(1)
    hints.attend(() => undefined)
    await server.heard(NOTIFY, 1)
    await settled()
  })

  it.each<[what: string, news: News[], words: string[]]>([
    ['letters', [{ mail: 'm' }, { mail: 'n' }], ['@m']],
    ['a node that left', [{ left: 'm' }], ['-m']],
    ['an end', [{ ended: 'a b' }, { ended: '\ud800' }], ['.a%20b']],
    ['a task', [{ tasks: 'w@1' }], ['=a']],
    ['a task for any scheduler', Array.from({ length: 5 }, () => ({ tasks: 'u@1', control: true })), ['=a', '=b']],
    ['a request', [{ work: 'x' }], ['+c']],
    ['what was overlooked', [{ overlooked: ['@m', '=v@1', '+x'] }], ['=b', '+c', '@m']],
  ])('of %s name who can act', async (_, news, words) => {
    expect((await told({ mail: 'z' }, ...news))?.sort()).toEqual(['@z', ...words].sort())
    expect(count(UNTAKEN)).toBe(0)
  })

  /** The channels of each notification so far, by what was said on them. */
  const channels = () =>
    server.asked
      .filter(({ text }) => text.includes(NOTIFY))
      .map((asked) => Object.fromEntries(spoken(asked).map(([on, words]) => [words, on])))
  const listening = (it: Member, own: string): Member => ({
    ...it,
    runs: JSON.stringify({ ...(JSON.parse(it.runs ?? '{}') as object), own }),
  })

  it('for somebody are said where only those listen, as far as it is known where', async () => {
    members = [listening(scheduler('a'), '@1'), scheduler('b', ['v@1']), listening(agent('c', ['x']), '@3')]
    await told({ tasks: 'w@1' }, { tasks: 'v@1' }, { work: 'x' }, { mail: 'a' }, { mail: 'm' }, { left: 'm' })
    const all = 'triarch_triarch'
    expect(channels()).toEqual([{ '=a @a': 'triarch_@1', '+c': 'triarch_@3', '=b @m -m': all }])
    clock.advance(5_001)
    instead = [MEMBERS, '57014']
    hints.tell([{ mail: 'a' }])
    await server.heard(MEMBERS, 1)
    instead = null
    await settled()
    await told({ mail: 'a' })
    expect(channels().at(-1)).toEqual({ '@a': 'triarch_@1' })
    server.notify('!') // a node came, whichever it is
    await hear()
    await settled()
    await told({ mail: 'a' })
    expect(count(MEMBERS)).toBe(4)
  })

  it.each<[waits: string[], channels: string[]]>([
    [['?@1'], ['triarch_@1']],
    [
      ['?@1', '?@2'],
      ['triarch_@1', 'triarch_@2'],
    ],
    [Array.from({ length: 9 }, (_, n) => `?@${n}`), ['triarch_triarch']],
    // A channel whose name the server refuses would keep all from being told of anything.
    [['?@1', `?@${'x'.repeat(60)}`, '?', '?@"'], ['triarch_@1']],
  ])('of ends are said to those who wait for them: %j', async (waits, expected) => {
    await hear(...waits)
    await settled()
    const before = channels().length
    hints.tell([{ ended: 't' }])
    await server.heard(NOTIFY, before)
    const asked = server.asked.filter(({ text }) => text.includes(NOTIFY)).at(-1)
    expect(asked && spoken(asked).map(([on]) => on)).toEqual(expected)
    await settled()
    clock.advance(12_000)
    expect(hints.awaited).toBe(false)
  })

  it('of what is not known are looked up', async () => {
    untaken = '{=v@1,@m}'
    expect((await told('tasks'))?.sort()).toEqual(['=b', '@m'])
    expect([count(UNTAKEN), count(MEMBERS)]).toEqual([1, 1])
  })

  it('read now and then who there is, and only if that matters', async () => {
    await told({ left: 'm' })
    expect(count(MEMBERS)).toBe(0)
    await told({ mail: 'm' })
    await told({ tasks: 'w@1' })
    await told({ tasks: 'w@1' })
    expect(count(MEMBERS)).toBe(1)
    clock.advance(5_001)
    await told({ work: 'x' })
    expect(count(MEMBERS)).toBe(2)
  })

  it('for nobody are not sent, and neither is nothing', async () => {
    members = []
    hints.tell([{ tasks: 'w@1' }])
    await server.heard(MEMBERS)
    await settled()
    hints.tell([])
    await settled()
    expect([count(NOTIFY), count(MEMBERS)]).toEqual([0, 1])
    expect(await told({ mail: 'm' })).toEqual(['@m'])
  })

  it('are collected while others are on their way', async () => {
    instead = [NOTIFY, null]
    await told({ mail: 'a' })
    hints.tell([{ mail: 'b' }])
    hints.tell([{ mail: 'c' }])
    const other = made()
    await other.open()
    expect(said()).toEqual([[['@a']]])
    await other.close()
    instead = null
    clock.advance(5_000) // that one is given up: the next connection says what came since
    await away()
    await back()
    await server.heard(NOTIFY, 1)
    expect(said()).toEqual([[['@a']], [['@b', '@c']]])
  })

  it('that come while nobody can be told are lost', async () => {
    server.cut()
    await away()
    hints.tell([{ mail: 'lost' }])
    await back()
    await settled()
    expect(said()).toEqual([])
    expect(await told({ mail: 'm' })).toEqual(['@m'])
  })

  it('go on after one that the server refuses', async () => {
    instead = [NOTIFY, '22023']
    await told({ mail: 'a' })
    instead = null
    await settled()
    expect(await told({ mail: 'b' })).toEqual(['@b'])
    expect(hints.alive).toBe(true)
  })

  it('leave a connection that the server is about to end', async () => {
    instead = [NOTIFY, '57P01']
    await told({ mail: 'a' })
    await away()
    await server.opened(0)
  })

  it('name nobody who has left', async () => {
    await told({ tasks: 'w@1' })
    await hear('-a')
    await settled()
    expect(await told({ tasks: 'w@1' }, { mail: 'm' })).toEqual(['@m'])
  })

  it('that are many come in several notifications, each as long as the server allows', async () => {
    const long = (letter: string, size: number) => ({ mail: letter.repeat(size - 2) }) // with `@` before and a space behind
    await told(long('a', 3_950), long('b', 3_950))
    await told(
      long('a', 3_950),
      long('b', 3_951),
      long('c', 7_900),
      long('d', 7_901),
      long('e', 3_000),
      long('é', 3_000),
      { mail: 'x' },
      { mail: 'y' },
    )
    const sizes = said().map((all) => all.map((words) => words.map(({ length }) => length)))
    expect(sizes).toEqual([[[3_949, 3_949]], [[3_949], [3_950], [7_899], [2_999], [2_999, 2, 2]]])
  })

  it('for a transaction of somebody else’s are words for it', async () => {
    expect(await hints.words([{ tasks: 'w@1' }])).toEqual({ channel: 'triarch_triarch', payload: '=a' })
    hints.node = 'a'
    expect(await hints.words([{ tasks: 'w@1' }])).toEqual({ channel: 'triarch_triarch', payload: '=a' })
    expect(await hints.words([{ tasks: 'nobody@1' }])).toBeNull()
    clock.advance(5_001)
    instead = [MEMBERS, '57014']
    expect(await hints.words([{ tasks: 'w@1' }])).toBeNull()
  })

  it('reach a node that came a moment ago, though all the others were known already', async () => {
    expect(await told({ tasks: 'w@1' })).toEqual(['=a'])
    members = [scheduler('late')]
    expect(await told({ tasks: 'w@1' })).toEqual(['=a'])
    expect(await hear('!')).toEqual([])
    expect(await told({ tasks: 'w@1' })).toContain('=late')
    expect(count(MEMBERS)).toBe(2)
  })

  it('that were given last are sent before the end', async () => {
    hints.tell([{ left: 'n' }, { tasks: 'w@1' }])
    await hints.close()
    expect(said()).toEqual([[['=a', '-n']]])
    expect(hints.alive).toBe(false)
    hints.tell([{ mail: 'm' }])
    await settled()
    expect(said()).toHaveLength(1)
    await server.opened(0)
  })

  it('that cannot be sent keep nobody from the end', async () => {
    instead = [NOTIFY, null]
    await told({ left: 'n' })
    const closed = hints.close()
    clock.advance(499)
    await turn()
    expect(hints.alive).toBe(true)
    clock.advance(1)
    await closed
    await server.opened(0)
    clock.advance(100_000)
    await settled()
    expect(server.seen).toBe(1)
  })

  it('are listened for anew when the connection is lost, ever more rarely while it cannot be had', async () => {
    heard.length = 0
    instead = ['LISTEN', '57014']
    clock.random = () => 0.5
    server.cut()
    await away()
    const tried: number[] = []
    const before = count('LISTEN')
    const begun = clock.monotonic()
    while (tried.length < 9) {
      clock.advance(10)
      await turn()
      if (count('LISTEN') > before + tried.length) tried.push(clock.monotonic() - begun)
    }
    const waits = tried.map((at, n) => at - (tried[n - 1] ?? 0))
    expect([waits[1], waits.at(-1)].map((wait = 0) => [wait >= 75, wait < 1_000, wait >= 3_750, wait < 5_000])).toEqual(
      [
        [true, true, false, true],
        [true, false, true, true],
      ],
    )
    await server.opened(0) // those on which it failed are not kept
    instead = null
    await back()
    expect([server.open, heard]).toEqual([1, ['work', 'tasks', 'mail', 'settings', 'rests']])
  })

  it('are not listened for again after the end', async () => {
    server.cut()
    await away()
    await hints.close()
    clock.advance(10_000)
    const other = made()
    await other.open()
    await other.close()
    expect(server.seen).toBe(2)
  })

  it('are given up where nothing is answered any more, and listened for on another connection', async () => {
    for (const [news, text] of [
      [{ tasks: 'w@1' }, MEMBERS],
      ['tasks', UNTAKEN],
      [{ mail: 'm' }, NOTIFY],
    ] as const) {
      const before = count(text)
      clock.advance(5_001)
      instead = [text, null]
      hints.tell([news])
      await server.heard(text, before)
      clock.advance(4_999)
      await turn()
      expect(hints.alive).toBe(true)
      clock.advance(1)
      await away()
      instead = ['LISTEN', null]
      const listens = count('LISTEN')
      while (count('LISTEN') === listens) {
        clock.advance(100)
        await turn()
      }
      instead = null
      await back()
      await settled()
      expect(server.open).toBe(1)
    }
  })

  it('of a store that cannot be opened are not waited for', async () => {
    instead = ['LISTEN', null]
    const other = made()
    const opened = expect(other.open()).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    await server.heard('LISTEN', 1)
    clock.advance(5_000)
    await opened
    await server.opened(1)
    clock.advance(100_000)
    await settled()
    expect(server.seen).toBe(2)
  })

  it('of a store that is closed while it opens are not listened for', async () => {
    instead = ['LISTEN', null]
    const other = made()
    const opened = other.open()
    await server.heard('LISTEN', 1)
    await other.close()
    clock.advance(5_000)
    await expect(opened).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    instead = null
    const last = made()
    const begun = last.open()
    const closed = last.close()
    await Promise.all([begun, closed])
    expect(last.alive).toBe(false)
    await server.opened(1)
  })
})
