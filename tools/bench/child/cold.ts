// A program that lies in the folder where the packages are installed, and uses nothing else: cold.mjs STORE PLACE TASKS
// The first line it writes is what the first task took, as a `First`; the second, what many took, as rounds; none without TASKS.
/** All in ms, counted from the start of the process; `rss`: bytes when the result was there. */
export interface First {
  imported: number
  started: number
  result: number
  rss: number
  /** What the imports took. */
  importing: number
}

/** Tasks a second, and processor time of one (ms). */
export interface Round {
  tasks: number
  speed: number
  spent: number
}

const [store = '', place = '', given = '0'] = process.argv.slice(2)
const size = Number(given)

const begin = performance.now()
const { agent, Triarch, workflow } = await import('triarch')
const opened =
  store === 'postgres'
    ? (await import('@triarch/postgres')).postgres(place)
    : (await import('triarch/sqlite')).sqlite(place)
const imported = performance.now()

const service = agent('service', { concurrency: 100_000 })
const call = service.action('call', { run: async ({ n }: { n: number }) => ({ n: n + 1 }) })
const one = workflow('one', { version: '1', run: async (input: { n: number }, task) => await task.run(call, input) })
const three = workflow('three', {
  version: '1',
  async run(input: { n: number }, task) {
    const first = await task.run(call, input)
    const second = await task.run(call, first)
    return await task.run(call, second)
  },
})
const triarch = new Triarch({ store: opened, workflows: [one, three], agents: [service] })
await triarch.start()
const started = performance.now()
const { n } = await (await triarch.submit(one, { n: 1 })).result()
if (n !== 2) throw new Error(`the result is ${n}`)
const first: First = {
  ...{ imported, started, result: performance.now(), rss: process.memoryUsage.rss() },
  importing: imported - begin,
}
console.log(JSON.stringify(first))
if (size > 0) console.log(JSON.stringify({ one: await rounds(one), three: await rounds(three) }))
await triarch.stop()

async function rounds(subject: typeof one): Promise<Round[]> {
  const found: Round[] = []
  for (const tasks of [size, size * 5, size * 5, size * 10]) {
    const [before, start] = [process.cpuUsage(), performance.now()]
    let left = tasks
    const drive = async () => {
      while (left-- > 0) await (await triarch.submit(subject, { n: left })).result()
    }
    await Promise.all(Array.from({ length: 256 }, drive))
    const { user, system } = process.cpuUsage(before)
    const took = performance.now() - start
    found.push({ tasks, speed: (tasks / took) * 1_000, spent: (user + system) / 1_000 / tasks })
  }
  return found
}
