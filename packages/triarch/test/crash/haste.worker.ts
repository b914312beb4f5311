// One short life: node haste.worker.ts <store>; killed as soon as it says that its time is over.

import { agent, Triarch, workflow } from '../../src/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'

const [store = ''] = process.argv.slice(2)
/** 300 ms, or what these are on a machine that is busy with other things: so many timers and looks into the store (ms). */
const LIFE = { looks: 30, apart: 10 }
const slow = agent('slow')
const once = { retry: { attempts: 1 }, undoRetry: { attempts: 1 } }
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const remote = slow.action('remote', { ...once, run: () => pause(60), undo: () => pause(60) })
const asked = slow.action('asked', { ...once, run: () => pause(60), verify: () => ({ done: false }) })

export const haste = workflow('haste', {
  async run(refused: boolean, task) {
    for (let round = 0; round < 4; round++) {
      await task.run(remote, null)
      await task.run('local', () => pause(60), { ...once, undo: () => pause(60) })
      await task.run(asked, null)
    }
    if (refused) throw new Error('refused')
  },
})

if (store !== '') {
  const triarch = new Triarch({
    store: sqlite(store),
    workflows: [haste],
    agents: [slow],
    lease: 300,
    sweep: 50,
    poll: 10,
  })
  process.once('disconnect', () => process.exit())
  await triarch.start()
  for (let looks = 0; looks < LIFE.looks; looks++) {
    await pause(LIFE.apart)
    await triarch.statistics.get()
  }
  process.send?.('over')
}
