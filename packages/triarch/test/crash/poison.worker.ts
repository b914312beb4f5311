// A node that dies of one of its tasks: node poison.worker.ts <store>

import { Triarch, workflow } from '../../src/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'

const [store = ''] = process.argv.slice(2)

export const poison = workflow('poison', { run: async (): Promise<null> => process.exit(3) })
export const patient = workflow('patient', {
  run: async (n: number, task) => {
    await task.waitForSignal('go')
    return n
  },
})

if (store !== '') {
  const workflows = [poison, patient]
  const triarch = new Triarch({ store: sqlite(store), workflows, lease: 300, sweep: 50, poll: 10 })
  process.once('disconnect', () => process.exit())
  await triarch.start()
}
