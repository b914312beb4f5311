import { describe, expect, test } from 'vitest'
import { type Odds, rough } from '../services/faults.ts'
import { chargeIdOf, payments } from './payments.ts'

describe('when things go wrong', () => {
  test('an error and a busy answer have no effect, and the next try gets through', async () => {
    await payments.start({ action: { error: 1 }, faultyReceipts: 2 })
    expect([
      (await payments.charge('k')).status,
      (await payments.charge('k')).status,
      (await payments.charge('k')).status,
    ]).toEqual([500, 500, 200])
    expect((await payments.ledger()).receipts.map(({ fault }) => fault)).toEqual(['error', 'error', null])
  })

  test('busy says when to come back, in milliseconds too', async () => {
    await payments.start({ action: { busy: 1 } })
    const { status, headers } = await payments.charge('k')
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    expect(Number(headers.get('retry-after-ms'))).toBeGreaterThan(0)
  })

  test('a request that hangs never takes effect, not even later', async () => {
    payments.patience = 200
    await payments.start({ action: { hang: 1 } })
    await expect(payments.charge('k')).rejects.toThrow('timeout')
    expect(await payments.get('by-key/k')).toEqual({ done: false })
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await payments.get('by-key/k')).toEqual({ done: false })
    const { effects, receipts } = await payments.ledger()
    expect(effects).toEqual([])
    expect(receipts[0]).toMatchObject({ fault: 'hang', status: null })
  })

  test.each<Odds>([{ lost: 1 }, { mute: 1 }])('an answer that is lost (%o) can be looked up', async (action) => {
    payments.patience = 200
    await payments.start({ action })
    await expect(payments.charge('a/b c')).rejects.toThrow()
    const found = await payments.get(`by-key/${encodeURIComponent('a/b c')}`)
    expect(found).toEqual({ done: true, output: { chargeId: expect.any(String), amount: 5 } })
    payments.patience = 10_000
    expect((await payments.charge('a/b c')).body).toEqual(found.output)
    expect((await payments.ledger()).effects).toHaveLength(1)
  })

  test('a slow answer has taken effect before its caller loses patience', async () => {
    await payments.start({ action: { slow: 1 } })
    const slow = payments.charge('k')
    while ((await payments.ledger()).receipts.length === 0);
    expect(await payments.get('by-key/k')).toMatchObject({ done: true })
    expect((await slow).status).toBe(200)
  })

  test('undos and lookups have faults of their own', async () => {
    await payments.start({ undo: { lost: 1 }, lookup: { error: 1 } })
    const chargeId = chargeIdOf(await payments.charge('k'))
    await expect(payments.post('refund', 'u', { chargeId })).rejects.toThrow()
    expect(await payments.get('by-key/u')).toMatchObject({ error: expect.any(String) })
    expect(await payments.get('by-key/u')).toMatchObject({ done: true, output: { refundId: expect.any(String) } })
  })

  test('a refusal depends on the order alone', async () => {
    await payments.start({ refusals: { payment: 0.5 } })
    const ask = (keys: string) =>
      Promise.all(Array.from({ length: 40 }, async (_, i) => (await payments.charge(`${keys}${i}`, `o${i}`)).status))
    const first = await ask('a')
    expect(new Set(first)).toEqual(new Set([200, 402]))
    expect(await ask('b')).toEqual(first)
  })

  test('the same seed brings the same faults, whatever the order of arrival', async () => {
    const keys = Array.from({ length: 200 }, (_, i) => `k${i}`)
    const faultsOf = async (seed: number, arrival: string[]) => {
      await payments.start({ ...rough, action: { error: 0.2, busy: 0.2 } }, seed)
      for (const key of arrival) await payments.charge(key, key)
      const { receipts } = await payments.ledger()
      await payments.stop()
      await payments.forget()
      return receipts.map(({ key, fault, status }) => `${key} ${fault} ${status}`).sort()
    }
    const first = await faultsOf(7, keys)
    expect(await faultsOf(7, keys.toReversed())).toEqual(first)
    expect(await faultsOf(8, keys)).not.toEqual(first)
  })
})
