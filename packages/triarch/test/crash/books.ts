import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Triarch, type TriarchOptions, type Workflow, workflow } from '../../src/index.ts'
import { Random } from './random.ts'

// Double-entry books kept by transactions of steps, in processes that are killed all the while: an entry too many or too
// few would show, for nothing in the tables keeps a second one out.

/** Writes one entry inside the transaction. */
export type Enter = (tx: unknown, entry: { task: string; kind: string }) => unknown

export interface Order {
  /** Fails after its first entries, and is undone. */
  refused: boolean
}

/** Tells the parent about each entry made, before it is committed: a good moment to die. */
function transfer(enter: Enter): Workflow<Order, null> {
  const entry = (task: string, kind: string) => async (tx: unknown) => {
    await enter(tx, { task, kind })
    process.send?.(kind)
    return kind
  }
  // Each death is a failed attempt of what it hit.
  const patient = { attempts: 50, backoff: { initial: 20, max: 100 } }
  const policy = { retry: patient, undoRetry: patient }
  return workflow('transfer', {
    async run({ refused }: Order, task) {
      await task.transaction('debit', entry(task.id, 'debit'), { ...policy, undo: entry(task.id, 'debit taken back') })
      await Promise.all(['fee', 'tax'].map((kind) => task.transaction(kind, entry(task.id, kind), policy)))
      if (refused) throw new Error('the account is closed')
      await task.transaction('credit', entry(task.id, 'credit'), policy)
      return null
    },
  })
}

/** What the books must hold of a task, in any order. */
export function expected({ refused }: Order): string[] {
  return ['debit', 'fee', 'tax', refused ? 'debit taken back' : 'credit'].sort()
}

const lease = { lease: 600, sweep: 100, poll: 10 }

/** The whole of a worker process. */
export async function keepBooks(store: TriarchOptions['store'], enter: Enter): Promise<void> {
  process.once('disconnect', () => process.exit())
  const onError = () => undefined // a fenced node, a store that is busy: what counts is in the books
  await new Triarch({ store, workflows: [transfer(enter)], ...lease, onError }).start()
}

/** Has the orders booked by one process after the other, each killed in the midst of it but the last. Answers its deaths. */
export async function killBookkeepers(
  { worker, args, store, seed }: { worker: URL; args: string[]; store: TriarchOptions['store']; seed: number },
  orders: ReadonlyMap<string, Order>,
): Promise<number> {
  const random = new Random(seed)
  await using client = new Triarch({ store })
  const target = transfer(() => undefined)
  for (const [id, order] of orders) await client.submit(target, order, { id })
  const done = Promise.all(
    [...orders.keys()].map((id) =>
      client.tasks
        .get(id)
        .result()
        .catch(() => null),
    ),
  ).then(() => true)
  for (let deaths = 0; ; deaths++) {
    const child = fork(worker, args, { execArgv: [] })
    let patience = deaths < 8 ? 1 + random.below(30) : Number.POSITIVE_INFINITY
    child.on('message', () => {
      if (patience-- === 0) child.kill('SIGKILL')
    })
    const over = await Promise.race([done, once(child, 'exit').then(() => false)])
    if (!over) continue
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
    return deaths
  }
}
