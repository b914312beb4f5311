import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { handClock, turn } from '../../triarch/test/store/clock.ts'
import { Din } from '../src/din.ts'
import { Hints } from '../src/hints.ts'
import type { News } from '../src/news.ts'
import { settingsOf } from '../src/options.ts'
import { type Counting, counting } from './counting.ts'
import { serverUrl } from './database.ts'
import { type Answer, type Asked, type Puppet, puppet, spoken } from './puppet.ts'

const MEMBERS = 'SELECT id, roles, runs'
const NOTIFY = 'pg_notify'
const CROWD = 20

describe('a lull', () => {
  let clock: Counting
  let server: Puppet
  let hints: Hints
  let members: number
  let fails: string | null
  let unanswered: string | null
  let heard: string[]

  const answer = ({ text }: Asked): Answer => {
    if (text === unanswered) return null
    if (fails !== null && text.includes(fails)) return '57014'
    if (!text.includes(MEMBERS)) return []
    const row = (n: number) => ({ id: `${n}`, roles: '["scheduler"]', runs: '{"workflows":[],"actions":[]}' })
    return Array.from({ length: members }, (_, n) => row(n))
  }
  const open = async (version = 18) => {
    hints = new Hints(clock, settingsOf({ url: server.url, answerWithin: 5_000 }))
    hints.node = 'n'
    hints.onHint((of) => heard.push(...of))
    await hints.open(version)
    heard = []
  }
  /** Bounds of lulls, and whatever else was said, in order. */
  const asked = () =>
    server.asked
      .map(({ text }) => (text.includes(NOTIFY) ? 'said' : text.includes(MEMBERS) ? 'read' : text))
      .filter((text) => !text.startsWith('LISTEN'))
  /** Until so much was asked, and answered. */
  const until = async (...expected: string[]) => {
    while (asked().length < expected.length) await turn()
    for (let n = 0; n < 20; n++) await turn()
    expect(asked()).toEqual(expected)
  }
  /** What is said on the channel of all; each of its own connection. */
  const loud = async (...voices: string[]) => {
    for (const [n, voice] of voices.entries()) server.notify(voice, 7 + n)
    const before = heard.length
    server.notify('@n', 7)
    while (heard.length === before) await turn()
  }
  const told = async (news: News, times: number) => {
    for (let n = 0; n < times; n++) {
      const before = server.asked.filter(({ text }) => text.includes(NOTIFY)).length
      hints.tell([news])
      await server.heard(NOTIFY, before)
      for (let n = 0; n < 20; n++) await turn()
    }
  }
  const said = () =>
    server.asked.filter(({ text }) => text.includes(NOTIFY)).flatMap((asked) => spoken(asked).map(([, words]) => words))

  beforeEach(async () => {
    clock = counting(handClock())
    members = CROWD
    fails = null
    unanswered = null
    heard = []
    server = await puppet(answer)
  })
  afterEach(async () => {
    await hints.close()
    await server[Symbol.asyncDispose]()
  })

  it.each<[voices: string[], ms: number]>([
    [['#50'], 100],
    [['#100'], 100],
    [['#200'], 50],
    [['#39.5', '#0.5'], 100],
    [['#39', '#961'], 10],
    [['#39 @m', '@m #961'], 10],
  ])('lasts for ten notifications, and a tenth of a second at most: %j', async (voices, ms) => {
    await open()
    await loud(...voices)
    await until('BEGIN')
    clock.advance(ms - 1)
    await until('BEGIN')
    clock.advance(1)
    await until('BEGIN', 'COMMIT', 'BEGIN')
  })

  it('is not due where fewer are said, nor when nobody says any more how many', async () => {
    await open()
    await loud('#30', '#9.9')
    await until()
    await loud('#NaN', '#x', '#Infinity', '#-1') // somebody else's rubbish
    await until()
    await loud('#90')
    await until('BEGIN')
    clock.advance(3_999)
    await until('BEGIN', 'COMMIT', 'BEGIN')
    await loud('#30')
    clock.advance(100)
    await until('BEGIN', 'COMMIT', 'BEGIN', 'COMMIT')
    expect(clock.waiting).toBe(0)
  })

  it('keeps nobody from saying something: it ends with that', async () => {
    await open()
    await loud('#60')
    await until('BEGIN')
    await told({ mail: 'm' }, 1)
    await until('BEGIN', 'read', 'said', 'COMMIT', 'BEGIN')
    clock.advance(99)
    await until('BEGIN', 'read', 'said', 'COMMIT', 'BEGIN')
    clock.advance(1)
    await until('BEGIN', 'read', 'said', 'COMMIT', 'BEGIN', 'COMMIT', 'BEGIN')
  })

  it('ends with what is read in it, for a transaction of somebody’s own: no table stays locked', async () => {
    await open()
    await loud('#60')
    await until('BEGIN')
    expect(await hints.words([{ tasks: 'w@1' }])).toBeNull()
    await until('BEGIN', 'read', 'COMMIT', 'BEGIN')
    // Nothing is to be read again.
    expect(await hints.words([{ tasks: 'w@1' }])).toBeNull()
    await until('BEGIN', 'read', 'COMMIT', 'BEGIN')
  })

  it('ends with a statement that fails in it: nothing else could be asked before', async () => {
    await open()
    await loud('#60')
    await until('BEGIN')
    fails = MEMBERS
    expect(await hints.words([{ tasks: 'w@1' }])).toBeNull()
    await until('BEGIN', 'read', 'COMMIT', 'BEGIN')
    hints.tell([{ mail: 'm' }])
    await until('BEGIN', 'read', 'COMMIT', 'BEGIN', 'read', 'COMMIT', 'BEGIN')
    fails = null
    await told({ mail: 'm' }, 1)
    expect(said()).toEqual(['@m'])
  })

  it('is over with its connection, and due on the next', async () => {
    await open()
    await loud('#60')
    await until('BEGIN')
    server.cut()
    while (hints.alive) await turn()
    for (; !hints.alive; await turn()) clock.advance(10)
    await until('BEGIN', 'BEGIN')
    expect(server.asked.filter(({ text }) => text === 'BEGIN').map(({ by }) => by)).toEqual([1, 2])
    expect(clock.waiting).toBe(1)
    await hints.close()
    expect(clock.waiting).toBe(0)
    clock.advance(1_000)
    await until('BEGIN', 'BEGIN')
  })

  it('is not followed by another once somebody stops, though its end is not answered', async () => {
    await open()
    await loud('#60')
    await until('BEGIN')
    unanswered = 'COMMIT'
    clock.advance(100)
    await until('BEGIN', 'COMMIT')
    const closed = hints.close()
    for (let n = 0; n < 20; n++) await turn()
    clock.advance(1_000)
    await closed
    await server.opened(0)
    for (let n = 0; n < 20; n++) await turn()
    expect([asked(), clock.waiting]).toEqual([['BEGIN', 'COMMIT'], 0])
  })

  it('goes on for what a server refuses', async () => {
    await open()
    fails = 'BEGIN'
    await loud('#60')
    await until('BEGIN')
    clock.advance(100)
    await until('BEGIN', 'COMMIT', 'BEGIN')
  })

  describe('is due by what each says of itself', () => {
    /** Ten a second, and one more when the second is over. */
    const talk = async (after = 1_000) => {
      await told({ mail: 'm' }, 10)
      clock.advance(after)
      await told({ mail: 'm' }, 1)
    }
    const rates = () => said().filter((it) => it.startsWith('#'))

    it('in a crowd, once a second, with what it says anyway', async () => {
      await open()
      await talk()
      await talk(3_999)
      expect(rates()).toEqual(['#11', '#2.8'])
      expect(said()).toHaveLength(24)
      const loud = server.asked.findLast(({ values }) => values[0]?.includes('#2.8'))
      expect(loud && spoken(loud).map(([on]) => on)).toContain('triarch_triarch')
    })

    it('which counts for itself', async () => {
      await open()
      await told({ mail: 'm' }, 60)
      clock.advance(1_000)
      await told({ mail: 'm' }, 1)
      expect([rates(), asked().at(-1)]).toEqual([['#61'], 'BEGIN'])
    })

    it.each<[what: string, members: number, server: number, after: number]>([
      ['where few listen', CROWD - 1, 18, 1_000],
      ['where the server wakes nobody in vain', CROWD, 19, 1_000],
      ['after a silence', CROWD, 18, 4_000],
      ['too often', CROWD, 18, 999],
    ])('but not %s', async (_, listeners, version, after) => {
      members = listeners
      await open(version)
      await talk(after)
      expect([rates(), said().length]).toEqual([[], 11])
    })

    it('counted anew after a silence, also where calls say all themselves', () => {
      const din = new Din(clock)
      din.server = 18
      clock.advance(4_000)
      din.said()
      clock.advance(999)
      expect([din.due, din.rate(CROWD)]).toEqual([false, null])
      clock.advance(1)
      din.said()
      expect([din.due, din.rate(CROWD)]).toEqual([true, 1])
    })

    it('also when it has nothing to say for which it must know who listens', async () => {
      await open()
      await told({ ended: 't' }, 10)
      await until(...Array.from({ length: 10 }, () => 'said'))
      clock.advance(1_000)
      await told({ ended: 't' }, 1)
      expect(rates()).toEqual(['#11'])
    })
  })
})

it('a server tells a session in a transaction nothing before its end, and then, before that is answered, all', async () => {
  const [listener, speaker] = [0, 1].map(() => new pg.Client({ connectionString: serverUrl() })) as [
    pg.Client,
    pg.Client,
  ]
  const heard: (string | undefined)[] = []
  listener.on('notification', ({ payload }) => heard.push(payload))
  await Promise.all([listener.connect(), speaker.connect()])
  try {
    await listener.query('LISTEN lull_test')
    await listener.query('BEGIN')
    for (const word of ['a', 'b', 'c']) await speaker.query(`NOTIFY lull_test, '${word}'`)
    await listener.query("SELECT pg_notify('lull_test', 'own')")
    expect(heard).toEqual([])
    await listener.query('COMMIT')
    expect(heard).toEqual(['a', 'b', 'c', 'own'])
  } finally {
    await Promise.all([listener.end(), speaker.end()])
  }
})
