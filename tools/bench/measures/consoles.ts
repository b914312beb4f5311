import { Child } from '../child/process.ts'
import { type Figure, type Measure, median } from '../measure.ts'
import { drive, start, threeSteps } from '../subject.ts'

const CONSOLES = 20
/** Of what it does without them (%). */
const TARGET = 95

/** Tasks under way at a time where the engine leaves cores to those who look on: what they cost it is then what they take of its store. */
const UNHURRIED = 16

export const consoles: Measure = {
  name: 'consoles',
  about:
    'three-step tasks while 20 windows of the console look on, at a server in a process of its own; ceiling: without them',
  async run(bench) {
    const [rounds, tasks] = bench.quick ? [1, 200] : [9, 6_000]
    const place = await bench.place('watched')
    await using subject = await start(place, { statistics: {} })
    await using server = new Child('./console-server.ts', [place])
    const url = await server.line()
    const figures: Figure[] = []
    for (const [load, inFlight] of Object.entries({
      'with cores to spare': UNHURRIED,
      'at full speed': bench.inFlight,
    })) {
      const at = Math.min(inFlight, tasks)
      const round = async (): Promise<Round> => {
        const [spent, ms] = [process.cpuUsage(), await drive(subject.engine, threeSteps, tasks, at)]
        const { user, system } = process.cpuUsage(spent)
        return { speed: (tasks / ms) * 1_000, cost: (user + system) / tasks }
      }
      await round()
      const taken: { alone: Round[]; watched: Round[]; asked: number[] } = { alone: [], watched: [], asked: [] }
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
      const of = (what: keyof Round, all: readonly Round[]) => median(all.map((one) => one[what]))
      const [alone, watched] = [of('speed', taken.alone), of('speed', taken.watched)]
      figures.push(
        {
          what: `${load}, tasks`,
          value: watched,
          unit: '/s',
          better: 'higher',
          ceiling: alone,
          note: `${at} in flight`,
        },
        {
          ...{
            what: 'of it',
            value: median(taken.watched.map(({ speed }, n) => (speed / (taken.alone[n]?.speed ?? Number.NaN)) * 100)),
            unit: '%',
            better: 'higher',
          },
          ...(inFlight === UNHURRIED && { target: TARGET }),
          note: `${median(taken.asked).toFixed(0)} questions answered a second`,
        },
        {
          ...{ what: 'CPU engine', value: of('cost', taken.watched), unit: 'µs/task', better: 'lower' },
          ceiling: of('cost', taken.alone),
        },
      )
    }
    return figures
  },
}

interface Round {
  /** Tasks a second. */
  speed: number
  /** µs of this process for each. */
  cost: number
}
