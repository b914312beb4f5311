import { Child } from '../child/process.ts'
import { type Figure, type Measure, median } from '../measure.ts'
import { drive, start, threeSteps } from '../subject.ts'

const CONSOLES = 20
/** Of what it does without them (%). */
const TARGET = 95

export const consoles: Measure = {
  name: 'consoles',
  about:
    'three-step tasks while 20 windows of the console look on, at a server in a process of its own; ceiling: without them',
  async run(bench) {
    const [rounds, tasks] = bench.quick ? [1, 200] : [5, 20_000]
    const place = await bench.place('watched')
    await using subject = await start(place, { statistics: {} })
    await using server = new Child('./console-server.ts', [place])
    const url = await server.line()
    const inFlight = Math.min(bench.inFlight, tasks)
    const round = async () => (tasks / (await drive(subject.engine, threeSteps, tasks, inFlight))) * 1_000
    await round()
    const taken: { alone: number[]; watched: number[]; asked: number[] } = { alone: [], watched: [], asked: [] }
    for (let n = 0; n < rounds; n++) {
      taken.alone.push(await round())
      await using windows = new Child('./consoles.ts', [url, CONSOLES])
      await windows.line()
      const asked = async () => (JSON.parse(await windows.ask()) as { asked: number }).asked
      const before = await asked()
      const began = performance.now()
      taken.watched.push(await round())
      taken.asked.push(((await asked()) - before) / ((performance.now() - began) / 1_000))
    }
    const [alone, watched] = [median(taken.alone), median(taken.watched)]
    const figures: Figure[] = [
      { what: 'tasks', value: watched, unit: '/s', better: 'higher', ceiling: alone, note: `${CONSOLES} consoles` },
      { what: 'of it', value: (watched / alone) * 100, unit: '%', better: 'higher', target: TARGET },
      { what: 'questions answered', value: median(taken.asked), unit: '/s', better: 'higher' },
    ]
    return figures
  },
}
