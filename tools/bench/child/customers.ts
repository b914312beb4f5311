// Customers who ask a server over connections that they keep: how long all of it took, and the median of a request.
import { Agent, request } from 'node:http'
import { percentile } from '../measure.ts'
import './parent.ts'

const [url = '', path = '', connections = '1', count = '1', body = ''] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) })
const { hostname, port } = new URL(url)

function ask(number: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': `${process.pid}-${number}` }
    const asked = request({ agent, hostname, port, path, method: 'POST', headers }, (response) => {
      response.resume()
      response.once('end', () =>
        response.statusCode === 201 ? resolve() : reject(new Error(`${response.statusCode}`)),
      )
    })
    asked.once('error', reject)
    asked.end(body)
  })
}

let next = 0
/** Milliseconds of each. */
let taken: number[] = []
async function customer(last: number): Promise<void> {
  while (next < last) {
    const number = ++next
    const began = performance.now()
    await ask(number)
    taken.push(performance.now() - began)
  }
}

async function crowd(last: number): Promise<number> {
  const began = performance.now()
  taken = []
  await Promise.all(Array.from({ length: Number(connections) }, () => customer(last)))
  return performance.now() - began
}

const all = Number(count)
await crowd(Math.ceil(all / 2)) // everybody warms up
const ms = await crowd(Math.ceil(all / 2) + all)
console.log(JSON.stringify({ ms, p50: percentile(taken, 50) }))
