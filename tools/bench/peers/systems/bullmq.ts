import { globSync } from 'node:fs'
import { connect } from 'node:net'
import { programs } from '../../../../scripts/debian.ts'
import { freePort, serving } from '../server.ts'
import { type Ground, IN_FLIGHT, type System } from '../system.ts'

interface Job {
  waitUntilFinished(events: unknown): Promise<number>
}

interface Library {
  Queue: new (
    name: string,
    options: object,
  ) => {
    add(name: string, data: object): Promise<Job>
    addBulk(jobs: { name: string; data: object }[]): Promise<Job[]>
  }
  FlowProducer: new (options: object) => { add(flow: Flow): Promise<{ job: Job }> }
  QueueEvents: new (name: string, options: object) => { waitUntilReady(): Promise<unknown> }
  Worker: new (name: string, run: () => Promise<number>, options: object) => { waitUntilReady(): Promise<unknown> }
}

interface Flow {
  name: string
  queueName: string
  data: object
  children?: Flow[]
}

const QUEUE = 'peers'
const INSTALL = 'apt-get install -y --no-install-recommends redis-server'

/** Without a service, and with the libraries that not every machine has. */
const redisFolder = () => programs(['redis-server'], ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1'])

export const bullmq: System = {
  name: 'bullmq',
  title: 'BullMQ',
  packages: { bullmq: '6.7.0', ioredis: '5.9.2' },
  settings: `Redis with appendonly, appendfsync always; ${IN_FLIGHT} concurrent jobs; a workflow is a flow of three jobs`,
  less: 'a queue: no history, no steps, no undo; all that waits and all that is kept must fit into memory',
  lacks: () => (redisFolder() === null ? INSTALL : null),
  async start({ folder, require }) {
    const { FlowProducer } = require('bullmq') as Library
    const connection = await redis(folder)
    const { queue, job, events } = await client(connection, require)
    await working(connection, require)
    const flows = new FlowProducer({ connection })
    const step = { name: 'step', queueName: QUEUE, data: { n: 1 } }
    const flow: Flow = { ...step, children: [{ ...step, children: [step] }] }
    return {
      job,
      workflow: async () => (await flows.add(flow)).job.waitUntilFinished(events),
      async wide(width) {
        const jobs = await queue.addBulk(Array.from({ length: width }, () => step))
        await Promise.all(jobs.map((job) => job.waitUntilFinished(events)))
      },
    }
  },
  async across({ folder, require, worker }) {
    const connection = await redis(folder)
    await worker(JSON.stringify(connection))
    return client(connection, require)
  },
  work: (place, require) => working(JSON.parse(place) as Connection, require),
}

interface Connection {
  host: string
  port: number
}

/** A server of its own, which ends with this process. */
async function redis(folder: string): Promise<Connection> {
  const connection = { host: '127.0.0.1', port: await freePort() }
  const programs = redisFolder() ?? ''
  const libraries = globSync(`${programs}/../lib/*-linux-gnu`).join(':')
  const settings = {
    port: connection.port,
    dir: folder,
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
    loglevel: 'warning',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`])
  await serving(`${programs}/redis-server`, args, { LD_LIBRARY_PATH: libraries }, () => answering(connection.port))
  return connection
}

async function client(connection: Connection, require: Ground['require']) {
  const { Queue, QueueEvents } = require('bullmq') as Library
  const events = new QueueEvents(QUEUE, { connection })
  await events.waitUntilReady()
  const queue = new Queue(QUEUE, { connection })
  return { queue, events, job: async () => (await queue.add('step', { n: 1 })).waitUntilFinished(events) }
}

async function working(connection: Connection, require: Ground['require']): Promise<void> {
  const { Worker } = require('bullmq') as Library
  await new Worker(QUEUE, async () => 1, { connection, concurrency: IN_FLIGHT }).waitUntilReady()
}

function answering(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve()
    })
    socket.once('error', reject)
  })
}
