import { beforeEach, describe, expect, it } from 'vitest'
import type { Claim, Effect, EffectOutcome } from '../../src/store/port.ts'
import { advancing } from './clock.ts'
import type { Bench } from './conformance.ts'
import { newTask, owned, released, transition } from './samples.ts'

const within = 86_400_000

export function transactionSuite(bench: Bench): void {
  describe('a transaction of the user', () => {
    let claim: Claim
    const sql = (tx: unknown, text: string) => bench.subject.sql(tx, text)
    const effectOf = (change: Partial<Effect> = {}): Effect => {
      return { key: claim.key, node: 'a', epoch: claim.epoch, step: 2, firstStep: 1, name: 't:2', ...change }
    }
    const transact = (
      effect: Effect,
      body: (tx: unknown) => string | Promise<string>,
      signal = new AbortController().signal,
    ): Promise<EffectOutcome> => bench.store.transact(effect, { within, signal, isolation: 'read committed' }, body)
    const book = async (tx: unknown) => {
      await sql(tx, 'INSERT INTO user_rows VALUES (1)')
      return `"${await sql(tx, 'SELECT count(*) FROM user_rows')}"`
    }
    let reads = 0
    const rows = async () => {
      const effect = effectOf({ step: 99, name: `read ${++reads}` })
      const outcome = await transact(effect, async (tx) => String(await sql(tx, 'SELECT count(*) FROM user_rows')))
      return outcome.ok ? Number(outcome.answer) : outcome
    }

    beforeEach(async () => {
      claim = await owned(bench.store)
      await transact(effectOf({ name: 'tables' }), async (tx) => {
        await sql(tx, 'DROP TABLE IF EXISTS user_rows')
        await sql(tx, 'CREATE TABLE user_rows (n integer)')
        return 'null'
      })
    })

    it('takes effect once, and gives the answer of that one time for ever', async () => {
      expect(await bench.store.effect(effectOf(), within)).toBeNull()
      expect(await transact(effectOf(), book)).toEqual({ ok: true, answer: '"1"' })
      expect(await transact(effectOf(), book)).toEqual({ ok: true, answer: '"1"' })
      expect(await bench.store.effect(effectOf(), within)).toBe('"1"')
      expect(await rows()).toBe(1)
    })

    it('leaves nothing when the function throws, and tells what it threw', async () => {
      const mind = new Error('changed its mind')
      const failing = transact(effectOf(), async (tx) => {
        await book(tx)
        throw mind
      })
      await expect(failing).rejects.toBe(mind)
      expect(await bench.store.effect(effectOf(), within)).toBeNull()
      expect(await rows()).toBe(0)
    })

    it('leaves nothing when the database refuses a statement, or its end', async () => {
      await expect(transact(effectOf(), (tx) => sql(tx, 'SELECT nonsense').then(String))).rejects.toThrow('nonsense')
      const ending = transact(effectOf(), async (tx) => {
        await sql(tx, 'INSERT INTO user_rows VALUES (1)')
        await sql(tx, 'ROLLBACK')
        return 'null'
      })
      await expect(ending).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' })
      expect(await rows()).toBe(0)
    })

    it('does not even begin for whom the task has left', async () => {
      let ran = false
      const body = () => {
        ran = true
        return 'null'
      }
      const strangers = [{ epoch: claim.epoch - 1 }, { epoch: claim.epoch + 1 }, { node: 'b' }, { key: claim.key + 1 }]
      for (const stranger of strangers) {
        expect(await transact(effectOf(stranger), body)).toEqual({ ok: false, reason: 'fenced' })
      }
      await bench.store.commit([transition(claim, { release: released })])
      expect(await transact(effectOf(), body)).toEqual({ ok: false, reason: 'fenced' })
      expect(ran).toBe(false)
    })

    it('is undone at once when it is given up, though its function goes on', async () => {
      const controller = new AbortController()
      const inside = Promise.withResolvers<unknown>()
      const stuck = transact(
        effectOf(),
        async (tx) => {
          await book(tx)
          inside.resolve(tx)
          return new Promise(() => undefined)
        },
        controller.signal,
      )
      await inside.promise
      const reason = new Error('given up')
      controller.abort(reason)
      await expect(stuck).rejects.toBe(reason)
      expect(await advanced(bench.store.effect(effectOf(), within))).toBeNull()
      expect(await rows()).toBe(0)
    })

    it('does not begin once it is given up', async () => {
      const reason = new Error('given up')
      await expect(transact(effectOf(), book, AbortSignal.abort(reason))).rejects.toBe(reason)
      expect(await rows()).toBe(0)
    })

    it('of one step is alone, whoever else tries; those of others all take effect', async () => {
      const same = await Promise.all(Array.from({ length: 5 }, () => advanced(transact(effectOf(), book))))
      expect(new Set(same.map((it) => it.ok && it.answer))).toEqual(new Set(['"1"']))
      const others = Array.from({ length: 5 }, (_, step) => transact(effectOf({ step, name: `t:${step}` }), book))
      await Promise.all(others.map(advanced))
      expect(await rows()).toBe(5)
    })

    describe('whose function ended with a branch under way', () => {
      const codeOf = (error: { code?: string }) => error.code
      /** Ends while a branch of it waits; gives what the branch did then, once another transaction was in the middle of it. */
      const branch = async (
        end: () => string | Promise<string>,
        act: (tx: unknown) => Promise<unknown>,
      ): Promise<unknown> => {
        const go = Promise.withResolvers<void>()
        const late = Promise.withResolvers<unknown>()
        const outcome = transact(effectOf(), async (tx) => {
          await book(tx)
          go.promise.then(() => act(tx)).then(late.resolve, late.reject)
          return end()
        })
        await outcome.catch(() => undefined)
        const other = effectOf({ step: 3, name: 't:3' })
        const did: EffectOutcome = await transact(other, async (tx) => {
          await book(tx)
          go.resolve()
          return String(await late.promise.catch(codeOf))
        })
        return did.ok && did.answer
      }
      const fails = () => Promise.reject(new Error('no'))

      it.each<[how: string, end: () => string | Promise<string>, held: number]>([
        ['failed', fails, 1],
        ['returned', () => 'null', 2],
      ])('that %s takes nothing of it into the transaction of another step', async (_, end, held) => {
        expect(await branch(end, book)).toBe('TRANSACTION_ENDED')
        expect(await rows()).toBe(held)
      })

      it('submits no task in the transaction of another step', async () => {
        const submit = async (tx: unknown) => bench.store.submitIn(tx, [newTask('late')])
        expect(await branch(fails, submit)).toBe('TRANSACTION_ENDED')
        expect(await bench.store.task('late')).toBeNull()
      })
    })

    it('that was given up takes nothing of what its function goes on with', async () => {
      const controller = new AbortController()
      const inside = Promise.withResolvers<unknown>()
      const stuck = transact(
        effectOf(),
        (tx) => {
          inside.resolve(tx)
          return new Promise(() => undefined)
        },
        controller.signal,
      )
      const tx = await inside.promise
      controller.abort(new Error('given up'))
      await expect(stuck).rejects.toThrow('given up')
      await expect(book(tx)).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' })
      expect(await rows()).toBe(0)
    })

    it('can submit tasks with it', async () => {
      const { store } = bench
      const failing = transact(effectOf(), async (tx) => {
        await store.submitIn(tx, [newTask('never')])
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      await transact(effectOf(), async (tx) => {
        await store.submitIn(tx, [newTask('u')])
        return 'null'
      })
      expect(await store.task('never')).toBeNull()
      expect(await store.task('u')).toMatchObject({ status: 'pending', ready: true })
    })

    it('is forgotten once the task began a new run', async () => {
      await transact(effectOf(), book)
      await transact(effectOf({ step: 3, name: 't:3', firstStep: 3 }), book)
      expect(await bench.store.effect(effectOf(), within)).toBeNull()
      expect(await bench.store.effect(effectOf({ step: 3, name: 't:3' }), within)).toBe('"2"')
    })

    async function advanced<T>(promise: Promise<T>): Promise<T> {
      return advancing(bench.clock, promise)
    }
  })
}
