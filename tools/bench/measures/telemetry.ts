import { channel } from 'node:diagnostics_channel'
import { type Logger, type TelemetryListeners, type TriarchOptions, telemetryNames } from 'triarch'
import { type Bench, type Figure, type Measure, median, timed } from '../measure.ts'
import { drive, start, threeSteps } from '../subject.ts'
import { compared, type Share } from './pairs.ts'

const PAIRS = 15
const QUICK_PAIRS = 1
const LOOKS = 10_000_000
const QUICK_LOOKS = 10_000

const nobody = (): void => undefined
const quiet: Logger = { debug: nobody, info: nobody, warn: nobody, error: nobody }
const all = Object.fromEntries(telemetryNames.map((name) => [name, nobody])) as TelemetryListeners

/** Who listens. The first is the engine beside itself: what that differs by from 100 % is the machine. */
const ears: Readonly<Record<string, Partial<TriarchOptions>>> = {
  nobody: {},
  'a log of warnings': { logger: quiet, logLevel: 'warn' },
  'one listener of all': { telemetry: all },
}

export const telemetry: Measure = {
  name: 'telemetry',
  about:
    'three-step tasks with listeners of telemetry that do nothing, beside the same with none, by processor time; what a look for one costs',
  async run(bench) {
    const figures: Figure[] = []
    for (const [what, options] of Object.entries(ears))
      figures.push({ what: `steps, ${what}`, ...(await heard(bench, what, options)) })
    return [...figures, await looks(bench)]
  },
}

async function heard(bench: Bench, what: string, options: Partial<TriarchOptions>): Promise<Share> {
  const name = what.replaceAll(' ', '-')
  await using bare = await start(await bench.place(`unheard-${name}`))
  await using own = await start(await bench.place(`heard-${name}`), options)
  return await compared(bench.quick ? [20, QUICK_PAIRS] : [1_000, PAIRS], {
    bare: (tasks) => spent(() => drive(bare.engine, threeSteps, tasks, bench.inFlight)),
    own: (tasks) => spent(() => drive(own.engine, threeSteps, tasks, bench.inFlight)),
  })
}

/** Processor time of this process (ms): on a machine that others use, it says more than the time that passed. */
async function spent(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** What every place that tells does first: it asks a listener of the option, and then the channel. */
async function looks(bench: Bench): Promise<Figure> {
  const channels = telemetryNames.map((name) => channel(`triarch:${name}`))
  const listeners: TelemetryListeners = {}
  const count = bench.quick ? QUICK_LOOKS : LOOKS
  let open = 0
  const look = () => {
    for (let index = 0; index < count; index++) {
      const at = index % telemetryNames.length
      if (listeners[telemetryNames[at] as 'commit'] !== undefined || channels[at]?.hasSubscribers) open++
    }
  }
  look()
  const rounds: number[] = []
  for (let round = 0; round < 5; round++) rounds.push(await timed(look))
  if (open > 0) throw new Error('somebody listens')
  return { what: 'a look', value: (median(rounds) * 1e6) / count, unit: 'ns', better: 'lower' }
}
