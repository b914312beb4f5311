import { agent, Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'

const bank = agent('bank', { concurrency: 10 })

const withdraw = bank.action('withdraw', {
  attemptWithin: '5s', // per attempt
  retry: { attempts: 3, backoff: { initial: '100ms' } },
  async run(input: { account: string; amount: number }, step) {
    console.log(`withdraw ${input.amount} from ${input.account} (key ${step.idempotencyKey})`)
    return { booking: `w-${step.stepId}` }
  },
  async undo({ output }) {
    console.log(`take back ${output.booking}`)
  },
})

const deposit = bank.action('deposit', {
  retry: { attempts: 2, backoff: { initial: '100ms' } },
  async run(input: { account: string; amount: number }): Promise<{ booking: string }> {
    throw new Error(`account ${input.account} is closed`)
  },
})

const transfer = workflow('transfer', {
  async run(order: { from: string; to: string; amount: number }, task) {
    await task.run(withdraw, { account: order.from, amount: order.amount })
    return task.run(deposit, { account: order.to, amount: order.amount })
  },
})

await using triarch = new Triarch({ store: sqlite('transfers.db'), workflows: [transfer], agents: [bank] })
await triarch.start()

const task = await triarch.submit(transfer, { from: 'A', to: 'B', amount: 10 }, { id: `transfer-${process.pid}` })
await task.result().catch((error) => console.log(`${error.code}: ${error.message}`))
