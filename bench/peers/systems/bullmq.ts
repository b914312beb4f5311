import { globSync } from 'node:fs'
import { connect } from 'node:net'
import { programs } from '../../../scripts/debian.ts'
import { freePort, serving } from '../server.ts'
import { IN_FLIGHT, type System } from '../system.ts'

interface Job {
  waitUntilFinished(events: unknown): Promise<number>
}

interface Library {
  Queue: new (name: string, options: object) => { add(name: string, data: object): Promise<Job> }
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
    const { FlowProducer, Queue, QueueEvents, Worker } = require('bullmq') as Library
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
    const events = new QueueEvents(QUEUE, { connection })
    const worker = new Worker(QUEUE, async () => 1, { connection, concurrency: IN_FLIGHT })
    await Promise.all([events.waitUntilReady(), worker.waitUntilReady()])
    const queue = new Queue(QUEUE, { connection })
    const flows = new FlowProducer({ connection })
    const step = { name: 'step', queueName: QUEUE, data: { n: 1 } }
    const flow: Flow = { ...step, children: [{ ...step, children: [step] }] }
    return {
      job: async () => (await queue.add('step', step.data)).waitUntilFinished(events),
      workflow: async () => (await flows.add(flow)).job.waitUntilFinished(events),
    }
  },
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
