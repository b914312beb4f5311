import { describe, expect, test } from 'vitest'
import { chargeIdOf, payments } from './payments.ts'

describe('a service', () => {
  test('does its work once per key and repeats its answer', async () => {
    await payments.start()
    const first = await payments.charge('k')
    const again = await payments.charge('k')
    expect(first).toMatchObject({ status: 200, body: { chargeId: expect.any(String), amount: 5 } })
    expect(again.body).toEqual(first.body)
    const { effects, receipts } = await payments.ledger()
    expect(effects).toHaveLength(1)
    expect(receipts).toHaveLength(2)
  })

  test('does it once however many ask at the same moment', async () => {
    await payments.start()
    const answers = await Promise.all(Array.from({ length: 20 }, () => payments.charge('k')))
    expect(new Set(answers.map(chargeIdOf)).size).toBe(1)
    expect((await payments.ledger()).effects).toHaveLength(1)
  })

  test('remembers across a restart', async () => {
    await payments.start()
    const first = await payments.charge('k')
    await payments.stop()
    await payments.start()
    expect((await payments.charge('k')).body).toEqual(first.body)
  })

  test('refuses another request under the same key, visibly', async () => {
    await payments.start()
    await payments.charge('k')
    expect(await payments.post('charge', 'k', { orderId: 'o1', amount: 6 })).toMatchObject({ status: 422 })
    expect(await payments.post('refund', 'k', { chargeId: 'x' })).toMatchObject({ status: 422 })
    const { receipts } = await payments.ledger()
    expect(receipts.map(({ violation }) => violation)).toEqual([null, 'key-conflict', 'key-conflict'])
  })

  test('undoes once per key', async () => {
    await payments.start()
    const chargeId = chargeIdOf(await payments.charge('k'))
    const first = await payments.post('refund', 'u', { chargeId })
    expect(first.status).toBe(200)
    expect(await payments.post('refund', 'u', { chargeId })).toMatchObject({ status: 200, body: first.body as object })
    const { effects } = await payments.ledger()
    expect(effects.map(({ kind, undoes, orderId }) => [kind, undoes, orderId])).toEqual([
      ['charge', null, 'o1'],
      ['refund', chargeId, 'o1'],
    ])
  })

  test('refuses to undo what was never done, or was undone before, visibly', async () => {
    await payments.start()
    expect(await payments.post('refund', 'u1', { chargeId: 'charge_none' })).toMatchObject({ status: 409 })
    const chargeId = chargeIdOf(await payments.charge('k'))
    await payments.post('refund', 'u2', { chargeId })
    expect(await payments.post('refund', 'u3', { chargeId })).toMatchObject({ status: 409 })
    const { receipts } = await payments.ledger()
    expect(receipts.filter(({ violation }) => violation)).toMatchObject([
      { key: 'u1', orderId: null, violation: 'undo-without-effect' },
      { key: 'u3', orderId: 'o1', violation: 'undone-twice' },
    ])
  })

  test('records who asked, and which attempt it was', async () => {
    await payments.start()
    await payments.post('charge', 'k', { orderId: 'o1' }, { attempt: '3' })
    expect((await payments.ledger()).receipts).toMatchObject([
      { kind: 'charge', key: 'k', orderId: 'o1', attempt: 3, status: 200 },
    ])
  })

  test('turns away what came after its complete-by', async () => {
    await payments.start()
    const past = { 'complete-by': new Date(Date.now() - 1).toISOString() }
    expect(await payments.post('charge', 'k', { orderId: 'o1' }, past)).toMatchObject({ status: 408 })
    const future = { 'complete-by': new Date(Date.now() + 10_000).toISOString() }
    expect(await payments.post('charge', 'k2', { orderId: 'o1' }, future)).toMatchObject({ status: 200 })
    expect((await payments.ledger()).effects.map(({ key }) => key)).toEqual(['k2'])
  })

  test('answers nonsense with 4xx', async () => {
    await payments.start()
    expect(await payments.post('nothing', 'k', {})).toMatchObject({ status: 404 })
    expect(await payments.post('charge', 'k', [])).toMatchObject({ status: 400 })
    expect(await payments.post('charge', 'k', {})).toMatchObject({ status: 400 })
    expect((await fetch(`${payments.url}/charge`, { method: 'POST', body: '{}' })).status).toBe(400)
    expect((await payments.ledger()).effects).toEqual([])
  })
})
