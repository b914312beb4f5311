import { type Workflow, workflow } from 'triarch'
import { Gate, type Measure, median, timed } from '../measure.ts'
import { add, type Count, start } from '../subject.ts'

export const replay: Measure = {
  name: 'replay',
  about: 'tasks with a 10,000-event history, woken by a signal on a fresh node: claim, rebuild, replay, finish',
  async run({ quick, place, raw }) {
    const [tasks, steps] = quick ? [2, 20] : [7, 5_000]
    const path = await place('engine')
    const deep = await prepare(path, tasks, steps)
    const shallow = await prepare(path, tasks, 1)

    await using fresh = await start(path, { workflows: [long(new Gate(0))] })
    const wake = (id: string) =>
      timed(async () => {
        const task = fresh.engine.tasks.get(id)
        await task.signal('go')
        await task.result()
      })
    const taken: { deep: number[]; shallow: number[] } = { deep: [], shallow: [] }
    for (const id of shallow) taken.shallow.push(await wake(id))
    for (const id of deep) taken.deep.push(await wake(id))

    const { records: history } = await fresh.engine.tasks.get(deep[0] ?? '').export()
    const events = history.reduce((sum, record) => sum + record.events.length, 0)
    const records = history.map((record) => JSON.stringify(record.events))
    await using bare = await raw()
    const keys = await bare.write(records, tasks, tasks)
    const reads: number[] = []
    for (const key of keys) reads.push(await timed(() => bare.read(key)))

    const net = Math.max(0.001, median(taken.deep) - median(taken.shallow))
    const speed = (ms: number) => (events / ms) * 1_000
    const note = 'less the same with 2 steps; raw: reading and parsing the rows'
    return [
      { what: 'replay', value: speed(net), unit: 'events/s', better: 'higher', ceiling: speed(median(reads)), note },
      { what: `${events} events`, value: net, unit: 'ms', better: 'lower', ceiling: median(reads) },
    ]
  },
}

/** Takes many steps, then waits: who wakes it elsewhere must replay them all first. */
function long(arrived: Gate): Workflow<Count, number> {
  return workflow('long', {
    async run({ n }: Count, task) {
      for (let step = 0; step < n; step++) await task.run(add, { n: step })
      await task.run('arrive', () => arrived.pass())
      await task.waitForSignal('go')
      return n
    },
  })
}

/** Leaves tasks waiting in the store, owned by nobody. */
async function prepare(path: string, tasks: number, steps: number): Promise<string[]> {
  const arrived = new Gate(tasks)
  const workflow = long(arrived)
  await using subject = await start(path, { workflows: [workflow] })
  const submissions = Array.from({ length: tasks }, () => subject.engine.submit(workflow, { n: steps }))
  const handles = await Promise.all(submissions)
  await arrived.open
  return handles.map(({ id }) => id)
}
