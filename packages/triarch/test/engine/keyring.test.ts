import { describe, expect, it, onTestFinished } from 'vitest'
import { StoredKeyring } from '../../src/client/keyring.ts'
import { TriarchError } from '../../src/error/error.ts'
import type { KeyRotateOptions, Triarch } from '../../src/index.ts'
import { callsOf } from '../../src/store/deadline.ts'
import type { StateStore } from '../../src/store/port.ts'
import { memory, testEngine } from '../../src/testing/index.ts'

/** An engine that makes keys, and the keyring of another process on its store, which can be taken out of reach. */
async function scene() {
  const asked = { marks: 0, pages: 0, uses: [] as unknown[] }
  let state: 'well' | 'down' | 'silent' = 'well'
  let inner: StateStore | undefined
  const engine = await testEngine({
    store: (environment) => {
      inner = memory()(environment)
      return inner
    },
  })
  onTestFinished(() => engine.stop({ grace: 0 }))
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    if (state === 'down') throw new TriarchError('STORE_UNAVAILABLE', 'nobody is there')
    if (state === 'silent') await new Promise(() => undefined)
    return call()
  }
  const real = inner as StateStore
  const store: StateStore = {
    ...callsOf(real),
    keyMark: () => {
      asked.marks++
      return through(() => real.keyMark())
    },
    keys: (query) => {
      asked.pages++
      return through(() => real.keys(query))
    },
    useKeys: (uses) => {
      asked.uses.push(...uses)
      return through(() => real.useKeys(uses))
    },
  }
  const { environment, triarch } = engine
  const keyring = new StoredKeyring({ environment, store, opened: async () => undefined, failed: () => undefined })
  onTestFinished(() => void keyring.close())
  const create = async (
    name: string,
    options: Partial<Parameters<ReturnType<Triarch['keys']['get']>['create']>[0]> = {},
  ) => (await triarch.keys.get(name).create({ rights: ['read'], ...options })).secret
  /** What comes of it, whatever time that takes. */
  const told = async <T>(work: Promise<T>): Promise<T | string> => {
    let answer: T | string | undefined
    void work.then(
      (value) => {
        answer = value
      },
      ({ code }) => {
        answer = code
      },
    )
    for (let round = 0; round < 40 && answer === undefined; round++) await engine.advance('100ms')
    return answer as T | string
  }
  return {
    ...{ engine, environment, triarch, keyring, asked, create, told },
    is: (next: typeof state) => {
      state = next
    },
    verify: async (secret: string) => {
      const key = await told(keyring.verify(secret))
      return typeof key === 'object' && key !== null ? key.name : key
    },
    rotate: async (name: string, options: Partial<KeyRotateOptions> = {}) =>
      (await triarch.keys.get(name).rotate({ reason: 'x', ...options })).secret,
  }
}
const changed = (secret: string) => secret.slice(0, -1) + (secret.endsWith('A') ? 'B' : 'A')

describe('a keyring', () => {
  it('knows a key by its secret alone, with its rights, from the moment it was made', async () => {
    const { keyring, told, create, verify } = await scene()
    const one = await create('one')
    expect(one).toMatch(/^triarch_one_[\w-]{43}$/)
    expect(await told(keyring.verify(one))).toEqual({ name: 'one', rights: ['read'], expiresAt: undefined })
    const two = await create('two.2', { rights: ['keys', 'start', 'keys'], expiresIn: '1h' })
    expect(await told(keyring.verify(two))).toMatchObject({ rights: ['start', 'keys'], expiresAt: expect.any(Date) })
    const wrong = [
      changed(one),
      one.replace('one', 'two.2'),
      `${one}x`,
      ` ${one}`,
      one.toUpperCase(),
      '',
      'triarch_one_',
    ]
    for (const secret of wrong) expect([secret, await verify(secret)]).toEqual([secret, null])
  })

  it('asks the store nothing for a key that it knows, and once a second whether any changed', async () => {
    const { engine, verify, create, asked } = await scene()
    const secret = await create('one')
    await verify(secret)
    const before = { ...asked }
    for (let n = 0; n < 100; n++) expect(await verify(secret)).toBe('one')
    expect(asked.pages).toBe(before.pages)
    await engine.advance('10s')
    expect(asked.marks - before.marks).toBeLessThanOrEqual(25)
    expect(asked.pages).toBe(before.pages)
    await engine.advance('5m')
    const idle = asked.marks
    await engine.advance('1h')
    expect(asked.marks).toBe(idle)
  })

  it('lets nobody who tries many keys ask the store more than ten times a second, or keep out who has one', async () => {
    const { engine, keyring, verify, create, asked } = await scene()
    const secret = await create('one')
    await verify(secret)
    const before = asked.marks
    const answers: unknown[] = []
    for (let n = 0; n < 2_000; n++)
      void keyring.verify(`triarch_one_${String(n).padStart(43, 'x')}`).then((it) => answers.push(it))
    expect(await verify(secret)).toBe('one')
    await engine.advance('1s')
    expect(new Set(answers)).toEqual(new Set([null]))
    expect(answers).toHaveLength(2_000)
    expect(asked.marks - before).toBeLessThanOrEqual(12)
    expect(asked.pages).toBe(1)
  })

  it('says within a second or so that a key was taken away, and refuses it', async () => {
    const { engine, triarch, keyring, verify, create } = await scene()
    const [one, two] = [await create('one'), await create('two')]
    await verify(one)
    let losses = 0
    const off = keyring.onLoss(() => losses++)
    await create('three')
    await engine.advance('2s')
    expect(losses).toBe(0)
    await triarch.keys.get('one').revoke({ reason: 'it was in a log' })
    await engine.advance('1500ms')
    expect(losses).toBe(1)
    expect([await verify(one), await verify(two)]).toEqual([null, 'two'])
    off()
    await triarch.keys.get('two').revoke({ reason: 'it was in a log' })
    await engine.advance('1500ms')
    expect(losses).toBe(1)
  })

  it('does not believe what it has not looked at for long', async () => {
    const { engine, triarch, verify, create } = await scene()
    const one = await create('one')
    await verify(one)
    await engine.advance('1h')
    await triarch.keys.get('one').revoke({ reason: 'it was in a log' })
    expect(await verify(one)).toBe(null)
  })

  it('takes both secrets of a key while they overlap, then the new one alone', async () => {
    const { engine, keyring, verify, create, rotate } = await scene()
    const one = await create('one')
    await verify(one)
    let losses = 0
    keyring.onLoss(() => losses++)
    const two = await rotate('one', { overlap: '1m' })
    expect([await verify(two), await verify(one)]).toEqual(['one', 'one'])
    expect(losses).toBe(0)
    await engine.advance('61s')
    expect([await verify(two), await verify(one)]).toEqual(['one', null])
    expect(losses).toBe(1)
    const three = await rotate('one', { overlap: 0 })
    expect([await verify(three), await verify(two), await verify(one)]).toEqual(['one', null, null])
    const four = await rotate('one', { overlap: '1h' })
    const five = await rotate('one', { overlap: '1h' })
    await engine.advance('2s')
    expect(await Promise.all([three, four, five].map(verify))).toEqual([null, 'one', 'one'])
  })

  it('refuses a key whose time is over, and says so', async () => {
    const { engine, keyring, verify, create } = await scene()
    const one = await create('one', { expiresIn: '10s' })
    await verify(one)
    let losses = 0
    keyring.onLoss(() => losses++)
    await engine.advance('8s')
    expect([await verify(one), losses]).toEqual(['one', 0])
    await engine.advance('3s')
    expect([await verify(one), losses]).toEqual([null, 1])
  })

  it.each(['down', 'silent'] as const)(
    'with a store that is %s, lets known keys in for five minutes, and says of others that nobody knows',
    async (state) => {
      const { engine, keyring, verify, create, is } = await scene()
      const [one, two] = [await create('one'), changed(await create('two'))]
      await verify(one)
      is(state)
      await engine.advance('3s')
      expect([await verify(one), await verify(two)]).toEqual(['one', 'STORE_UNAVAILABLE'])
      expect(keyring.state).toMatchObject({ failure: expect.anything(), grace: 300_000 })
      await engine.advance('4m')
      expect(await verify(one)).toBe('one')
      await engine.advance('1m')
      expect(await verify(one)).toBe('STORE_UNAVAILABLE')
      is('well')
      // What it waits for silently is given up by whoever stands around the store.
      if (state === 'silent') return
      await engine.advance('5s')
      expect([await verify(one), await verify(two)]).toEqual(['one', null])
      expect(keyring.state).toMatchObject({ failure: null })
    },
  )

  it('makes nobody with a known key wait for a store that does not answer', async () => {
    const { engine, environment, keyring, create, verify, is } = await scene()
    const one = await create('one')
    await verify(one)
    is('silent')
    await engine.advance('10s')
    for (let n = 0; n < 50; n++) {
      const before = environment.monotonic()
      const key = keyring.verify(one)
      await engine.settle()
      expect((await key)?.name).toBe('one')
      expect(environment.monotonic()).toBe(before)
      await engine.advance('130ms')
    }
  })

  it('notes when a key was used, once in ten minutes, and what it could not note, later', async () => {
    const { engine, triarch, verify, create, asked, is } = await scene()
    const one = await create('one')
    await create('unused')
    for (let n = 0; n < 20; n++) {
      await verify(one)
      await engine.advance('1s')
    }
    expect(asked.uses).toHaveLength(1)
    const { usedAt, ...rest } = await triarch.keys.get('one').info()
    expect(usedAt).toBeInstanceOf(Date)
    expect(rest).toMatchObject({ status: 'active', name: 'one' })
    expect((await triarch.keys.get('unused').info()).usedAt).toBe(undefined)
    await engine.advance('10m')
    await verify(one)
    is('down')
    await engine.advance('2s')
    is('well')
    await engine.advance('3s')
    const again = (await triarch.keys.get('one').info()).usedAt
    expect(again?.getTime()).toBeGreaterThan((usedAt as Date).getTime() + 600_000)
  })

  it('goes on with all keys when a store was set back and changed again', async () => {
    const { engine, verify, create, triarch } = await scene()
    const one = await create('one')
    await verify(one)
    await triarch.keys.get('one').revoke({ reason: 'x' })
    const two = await create('two')
    await engine.advance('2s')
    expect([await verify(one), await verify(two)]).toEqual([null, 'two'])
  })
})
