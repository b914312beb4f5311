// Windows of the console, as a server sees them: each follows a stream, asks again when it tells of something, and polls the rest.
import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import './parent.ts'

const [server = '', count = '1'] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })
/** As in packages/console/src/api: how often what a stream tells of is asked for again, what none tells of, and figures (ms). */
const [PACE, POLL, FIGURES] = [400, 3_000, 15_000]

interface Window {
  stream: string
  /** Asked for again whenever the stream tells of something. */
  live: string
  polled: readonly string[]
  figures: readonly string[]
}

const kinds: readonly Window[] = [
  {
    stream: '/stats/events',
    live: '/stats',
    polled: ['/health?report=true', '/tasks?filter=status:paused&limit=50', '/breakers?limit=200', '/agents'],
    figures: ['by=workflow&by=outcome&kind=task', 'by=outcome&kind=task&outcome=success'],
  },
  { stream: '/tasks/events?limit=50', live: '/tasks?limit=50', polled: ['/stats/tasks?most=1000'], figures: [] },
  {
    stream: '/tasks/events?filter=status:running&limit=50',
    live: '/tasks?filter=status:running&limit=50',
    polled: ['/workflows', '/nodes'],
    figures: ['by=hour&by=outcome&kind=task', 'by=action&by=outcome&kind=step', 'by=kind&by=agent&by=error'],
  },
]

let asked = 0

/** Once more, where the server has closed the connection just then: a browser does so, too. */
function ask(path: string): Promise<void> {
  return once(path).catch(() => once(path))
}

function once(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(`${server}/api/v1${path}`, { agent }, (response) => {
      asked++
      if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`))
      response.resume().once('end', resolve)
    }).once('error', reject)
  })
}

async function every(ms: number, paths: readonly string[]): Promise<void> {
  for (;;) {
    for (const path of paths) await ask(path)
    await delay(ms)
  }
}

async function watch({ stream, live, polled, figures }: Window): Promise<void> {
  let isNew = true
  get(`${server}/api/v1${stream}`, { headers: { accept: 'text/event-stream' } }, (response) =>
    response.on('data', () => {
      isNew = true
    }),
  ).once('error', () => process.exit(1))
  void every(POLL, polled)
  if (figures.length > 0)
    void every(
      FIGURES,
      figures.map((it) => `/statistics?${it}`),
    )
  for (;;) {
    if (isNew) {
      isNew = false
      await ask(live)
    }
    await delay(PACE)
  }
}

for (let n = 0; n < Number(count); n++) void watch(kinds[n % kinds.length] as Window)
process.stdin.on('data', () => console.log(JSON.stringify({ asked })))
await delay(1_000)
console.log('watching')
