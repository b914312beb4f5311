// A service over HTTP that is ill until it is told otherwise, and keeps a ledger: node service.ts TAKES PROBES
// It prints its port; asked for `/well` it is well from then on, for `/ledger` it says what it saw since.
import './parent.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the service saw. */
export interface Ledger {
  /** Calls while it was ill. */
  ill: number
  /** Calls answered since it is well. */
  answered: number
  /** Most of those at a time. */
  busiest: number
  /** Most that were under way for each that it had answered before (and the probes): at one, none of them came too soon. */
  rush: number
  /** Calls of each time at which it was not idle, one after the other. */
  waves: number[]
}

/** Waves that are kept. */
const MOST = 100

const [takes = 0, probes = 1] = process.argv.slice(2).map(Number)
const ledger: Ledger = { ill: 0, answered: 0, busiest: 0, rush: 0, waves: [] }
let well = false
let busy = 0
let wave = 0

const server = createServer((request, response) => {
  if (request.url === '/ledger') return void response.end(JSON.stringify(ledger))
  if (request.url === '/well') well = true
  if (request.url !== '/') return void response.end()
  if (!well) {
    ledger.ill++
    return void response.writeHead(503).end()
  }
  busy++
  wave++
  ledger.busiest = Math.max(ledger.busiest, busy)
  ledger.rush = Math.max(ledger.rush, busy / (ledger.answered + probes))
  setTimeout(() => {
    busy--
    ledger.answered++
    if (busy === 0) {
      if (ledger.waves.length < MOST) ledger.waves.push(wave)
      wave = 0
    }
    response.end()
  }, takes)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
