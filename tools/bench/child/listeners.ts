// Clients that listen to a stream of events in which nothing happens.
import { Agent, get } from 'node:http'
import './parent.ts'

const [url = '', count = '1'] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: Number(count) })
await Promise.all(
  Array.from(
    { length: Number(count) },
    () =>
      new Promise<void>((resolve, reject) => {
        get(`${url}/api/v1/stats/events`, { agent }, (response) =>
          response.once('data', () => resolve()).resume(),
        ).once('error', reject)
      }),
  ),
)
console.log('listening')
