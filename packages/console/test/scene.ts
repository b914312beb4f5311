import { agent, PermanentError, type TaskHandle, type Triarch, workflow } from 'triarch'
import { expect, vi } from 'vitest'

/** A shop in which something of everything is the matter, for pages to show. */
export function scene() {
  const bank = agent('bank', { circuitBreaker: { minimum: 4, open: '1d', openMax: '1d' } })
  const mail = agent('mail', { concurrency: 2, rateLimit: { limit: 100, per: '1m' } })
  const release = Promise.withResolvers<void>()
  const charge = bank.action('charge', {
    retry: { attempts: 2, backoff: { initial: '1ms' } },
    async run(amount: number) {
      if (amount > 10) throw new Error('the bank does not answer')
      return { charged: amount }
    },
    undo: async () => undefined,
  })
  const check = mail.action('check', {
    ...{ retry: { attempts: 1 }, rescue: 'pause' },
    async run(address: string) {
      if (!address.includes('@')) throw new PermanentError('this is no address')
    },
  })
  const send = mail.action('send', { run: () => release.promise })
  const order = workflow('order', {
    async run({ amount }: { amount: number }, task) {
      const receipt = await task.run(charge, amount)
      await task.waitForSignal('shipped')
      return receipt
    },
  })
  const letter = workflow('letter', {
    async run({ to }: { to: string }, task) {
      await task.run(check, to)
      await task.run(send, null)
    },
  })
  const move = workflow('move', {
    async run({ hosts, first }: { hosts: string[]; first: string }, task) {
      await task.lock(first)
      for (const host of hosts) {
        await task.waitForSignal('go')
        await task.lock(host)
      }
      await task.waitForSignal('done')
    },
  })
  const definitions = { workflows: [order, letter, move], agents: [bank, mail] }
  return { ...definitions, order, letter, move, release: () => release.resolve() }
}

/** Moves of hosts that wait for one another. */
export const lined: readonly Move[] = [
  { id: 'm-1', first: 'host:db1', hosts: [] },
  { id: 'm-2', first: 'host:db2', hosts: ['host:db1'] },
  { id: 'm-3', first: 'host:db3', hosts: ['host:db2'] },
]

interface Move {
  id: string
  first: string
  hosts: string[]
}

/** The schedules, two orders that are shipped, the letters, and the moves, which it gives back. */
export async function begun(
  triarch: Triarch,
  { order, letter, move }: Pick<ReturnType<typeof scene>, 'order' | 'letter' | 'move'>,
  moves: readonly Move[],
  shipped: (task: TaskHandle<unknown>) => Promise<unknown>,
): Promise<readonly Move[]> {
  await triarch.schedules.get('nightly').register({ workflow: order, input: { amount: 1 }, cron: '0 3 * * 1-5' })
  await triarch.schedules.get('hourly').register({ workflow: letter, input: { to: 'a@b' }, every: '1h' })
  await triarch.schedules.get('hourly').pause({ reason: 'stock-taking' })
  for (const amount of [3, 5])
    await shipped(await triarch.submit(order, { amount }, { id: `o-${amount}`, tags: { customer: 'c-7' } }))
  await triarch.submit(letter, { to: 'nowhere' }, { id: 'l-lost', tags: { customer: 'c-8' } })
  for (let n = 0; n < 6; n++) await triarch.submit(letter, { to: 'a@b' }, { id: `l-${n}` })
  for (const { id, ...input } of moves) await triarch.submit(move, input, { id })
  return moves
}

/** Submits all of it, and waits until each stands where it will stand. */
export async function played(triarch: Triarch, { order, letter, move }: ReturnType<typeof scene>): Promise<void> {
  const moves = await begun(
    triarch,
    { order, letter, move },
    [...lined, { id: 'm-4', first: 'host:web1', hosts: ['host:db1'] }],
    async (task) => {
      await task.signal('shipped', null)
      await task.result()
    },
  )
  await vi.waitFor(async () => expect((await triarch.locks.list()).locks).toHaveLength(4), 60_000)
  for (const { id, hosts } of moves) if (hosts.length > 0) await triarch.tasks.get(id).signal('go', null)
  for (let n = 0; n < 8; n++) await triarch.submit(order, { amount: 20 }, { id: `b-${n}` })
  const stands = async () => {
    expect((await triarch.breakers.get('bank').info()).state).toBe('open')
    expect((await triarch.locks.list()).locks.filter(({ waiting }) => waiting > 0)).toHaveLength(2)
    expect((await triarch.tasks.count({ filter: 'status:paused' })).count).toBe(1)
  }
  await vi.waitFor(stands, 60_000)
}
