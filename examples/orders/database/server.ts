// A PostgreSQL of one's own: started, stopped in every way there is, and started again on the same data and port.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Binaries, findBinaries, openFolder, reachable, type User } from './binaries.ts'

/** How the server is stopped: sessions are ended and all is written (fast); everybody drops everything (immediate). */
export type StopMode = 'fast' | 'immediate'

const signals: Record<StopMode, NodeJS.Signals> = { fast: 'SIGINT', immediate: 'SIGQUIT' }

/** How long it may take to be ready, or to be gone (ms). */
const PATIENCE = 30_000

const defaults: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  // Full durability: what is told to be committed must survive any of this.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  logging_collector: 'off',
  log_lock_waits: 'on',
  // The error code first: the rules read these lines.
  log_line_prefix: '%e %m [%p] %a ',
  log_min_error_statement: 'error',
}

/** Hears of the server's process when it is there and when it is gone. */
export type Told = (pid: number | undefined, alive: boolean) => void

export interface DatabaseOptions {
  told?: Told
  /** Of the server's own; they go before ours. */
  settings?: Readonly<Record<string, string>>
  /** It follows another that never comes, and takes no writes. */
  standby?: boolean
}

interface Ground {
  told: Told
  settings: Readonly<Record<string, string>>
  port: number
  log: string
  binaries: Binaries
  data: string
}

export class DatabaseServer {
  readonly port: number
  readonly log: string
  /** Where its data is. */
  readonly data: string
  readonly #binaries: Binaries
  readonly #told: Told
  readonly #settings: Readonly<Record<string, string>>
  #process: ChildProcess | null = null
  #restarted: Promise<void> = Promise.resolve()

  private constructor(ground: Ground) {
    this.#told = ground.told
    this.#settings = ground.settings
    this.port = ground.port
    this.log = ground.log
    this.#binaries = ground.binaries
    this.data = ground.data
  }

  /** A new cluster below `dir`, running. */
  static async create(dir: string, options: DatabaseOptions = {}): Promise<DatabaseServer> {
    const { told = () => undefined, settings } = options
    const binaries = findBinaries()
    const data = place(dir, binaries.user)
    const log = join(dir, 'postgres.log')
    writeFileSync(log, '')
    const port = await freePort()
    const server = new DatabaseServer({ told, settings: { ...defaults, ...settings }, port, log, binaries, data })
    await server.#initialise()
    if (options.standby) writeFileSync(join(server.data, 'standby.signal'), '')
    await server.start()
    return server
  }

  /** That of a directory in which one was created before, running. */
  static async reopen(dir: string): Promise<DatabaseServer> {
    const ground = { told: () => undefined, settings: defaults, port: await freePort(), log: join(dir, 'postgres.log') }
    const server = new DatabaseServer({
      ...ground,
      binaries: findBinaries(),
      data: realpathSync(join(dir, 'postgres')),
    })
    await server.start()
    return server
  }

  /** Another server, running, on data of its own that were copied from this one's. */
  async beside(data: string, settings: Readonly<Record<string, string>> = {}): Promise<DatabaseServer> {
    const own = { told: this.#told, log: `${this.log}.beside`, binaries: this.#binaries }
    const other = { ...own, settings: { ...this.#settings, ...settings }, port: await freePort(), data }
    const server = new DatabaseServer(other)
    try {
      await server.start()
    } catch (error) {
      await server.stop('immediate')
      throw error
    }
    return server
  }

  /** Whose its files must be; null: ours. */
  get user(): User | null {
    return this.#binaries.user
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  url(port: number = this.port): string {
    return `postgres://postgres@127.0.0.1:${port}/postgres`
  }

  /** Resolves when it takes connections. After a stop that was not clean it recovers first. */
  async start(): Promise<void> {
    const options = Object.entries(this.#settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn(join(this.#binaries.folder, 'postgres'), ['-D', this.data, '-p', `${this.port}`, ...options], {
      stdio: ['ignore', 'ignore', 'pipe'],
      ...this.#self(),
    })
    this.#process = child
    this.#told(child.pid, true)
    child.once('exit', () => this.#told(child.pid, false))
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`PostgreSQL is not ready after ${PATIENCE} ms`)), PATIENCE)
      createInterface({ input: child.stderr }).on('line', (line) => {
        appendFileSync(this.log, `${line}\n`)
        if (/database system is ready to accept (read-only )?connections/.test(line)) done(resolve)
      })
      const done = (settle: () => void) => {
        clearTimeout(late)
        settle()
      }
      child.once('error', (error) => done(() => reject(error)))
      child.once('exit', (code) => done(() => reject(new Error(`PostgreSQL ended (${code}): see ${this.log}`))))
    })
  }

  /** Resolves when it is gone. */
  async stop(mode: StopMode): Promise<void> {
    const child = this.#process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signals[mode])
    const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE)
    await exit
    clearTimeout(late)
  }

  /** Stopped and, after a while, started again; one restart after the other. */
  restart(mode: StopMode, downtime: number): Promise<void> {
    return this.replace(mode, () => delay(downtime))
  }

  /** Stopped and started again; what is done to it meanwhile is done to data that nobody uses. */
  replace(mode: StopMode, meanwhile: () => Promise<unknown>): Promise<void> {
    this.#restarted = this.#restarted.then(async () => {
      await this.stop(mode)
      await meanwhile()
      await this.start()
    })
    return this.#restarted
  }

  /** All it said so far. */
  said(): string {
    return readFileSync(this.log, 'utf8')
  }

  async #initialise(): Promise<void> {
    // It listens on the loopback interface of this machine only, and for minutes: no password.
    const options = ['--auth=trust', '--username=postgres', '--encoding=UTF8', '--no-locale', '--no-sync']
    const initdb = join(this.#binaries.folder, 'initdb')
    await promisify(execFile)(initdb, [`--pgdata=${this.data}`, ...options], this.#self())
  }

  /** As whom its processes run, and that they speak the language we read. */
  #self() {
    return { ...this.#binaries.user, env: { ...process.env, LC_ALL: 'C' }, cwd: '/' }
  }
}

/** The folder for the data. Where the server's user cannot go, it is a temporary one, and `dir` has a link to it. */
function place(dir: string, user: User | null): string {
  const data = join(dir, 'postgres')
  if (user) chmodSync(dir, statSync(dir).mode | 0o011) // the way to the data leads through here
  const open = !user || reachable(dir, user)
  const real = open ? data : openFolder('triarch-postgres-', user)
  if (open) mkdirSync(data)
  else symlinkSync(real, data)
  if (user) chownSync(real, user.uid, user.gid)
  chmodSync(real, 0o700)
  return real
}

/**
 * Free now; nobody is likely to take it within the second until the server does, nor while it is being restarted: it lies below
 * those that systems give to outgoing connections.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer()
    const port = 15_000 + Math.floor(Math.random() * 15_000)
    try {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue
      throw error
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
