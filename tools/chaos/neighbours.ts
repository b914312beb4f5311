// Who lives beside the orders and drills, and what of them is noticed: bystanders and how long they took, hostile strings and
// what became of them, poison and whom it killed, users who keep the store waiting.
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { isTriarchError, type Triarch } from 'triarch'
import type { Random } from '../../packages/triarch/test/crash/random.ts'
import { bystander, echo, keyed, type Murder, type Poison, poisonous } from './workflows.ts'

/** What somebody sent that nobody expects. */
export interface Oddity {
  id: string
  text: string
  /** Why it was refused at once; null: it was accepted. */
  refused: string | null
}

const strings: readonly string[] = [
  'a\0b',
  '\ud800',
  '\udc00 \ud83d',
  `'"\\;--`,
  '__proto__',
  'constructor',
  '{"$ref":"#"}',
  '$1',
  '%s%n',
  '\u202e\u0007\r\n',
  'é'.repeat(150),
  '"; DROP SCHEMA triarch CASCADE; --',
]

export class Neighbours {
  readonly accepted: string[] = []
  readonly oddities: Oddity[] = []
  readonly #triarch: Triarch
  readonly #url: string
  readonly #diary: string
  readonly #patient: (error: unknown) => Promise<unknown>
  readonly #poison = poisonous(null).workflow
  /** The last of each kind. */
  readonly #poisons = new Map<Poison, string>()
  #count = 0

  /** `url`: of the database itself. `diary`: where poison says whom it kills. `patient`: throws what is no reason to try again. */
  constructor(triarch: Triarch, url: string, diary: string, patient: (error: unknown) => Promise<unknown>) {
    this.#triarch = triarch
    this.#url = url
    this.#diary = diary
    this.#patient = patient
  }

  async pass(): Promise<void> {
    const id = `bystander-${++this.#count}`
    await this.#persist(() => this.#triarch.submit(bystander, 1, { id }))
    this.accepted.push(id)
  }

  /** A string that nobody expects as the input, in the id, as a tag's name or value. */
  async provoke(random: Random): Promise<void> {
    const text = random.pick(strings) ?? ''
    const place = random.below(4)
    const id = `echo-${++this.#count}${place === 1 ? text : ''}`
    const tags = { ...(place === 2 && { [text]: 'x' }), ...(place === 3 && { label: text }) }
    const refused = await this.#persist(() => this.#triarch.submit(echo, text, { id, tags })).then(
      () => null,
      (error: unknown) => (isTriarchError(error) ? error.code : `${error}`),
    )
    this.oddities.push({ id, text, refused })
    if (refused === null) this.accepted.push(id)
  }

  /**
   * One of each kind at a time, unless it is the first: each costs some processes their lives before it is quarantined, and those
   * that die anyway leave it no peace to be found in. Null: there is one still.
   */
  async poison(how: Poison, first: boolean): Promise<string | null> {
    const before = this.#poisons.get(how)
    if (before !== undefined && !first && !(await this.#isHarmless(before))) return null
    const id = `poison-${++this.#count}`
    await this.#persist(() => this.#triarch.submit(this.#poison, how, { id }))
    this.accepted.push(id)
    this.#poisons.set(how, id)
    return id
  }

  async #isHarmless(id: string): Promise<boolean> {
    let status = ''
    try {
      await this.#persist(async () => {
        status = (await this.#triarch.tasks.get(id).status()).status
      })
    } catch (error) {
      if (isTriarchError(error, 'UNKNOWN_TASK')) return true // it was lost
      throw error
    }
    return status === 'paused' || status === 'stopped'
  }

  /**
   * A user's transaction with a new task in it stays open for so long (ms), with the task's id and its lock, and is then committed
   * or rolled back; others want both meanwhile. Null: it was ended before.
   */
  async hold(lasts: number, commit: boolean): Promise<string | null> {
    const id = `keyed-${++this.#count}`
    const others: Promise<void>[] = []
    const held = await this.#session(async (client) => {
      await client.query('BEGIN')
      await this.#triarch.submit(keyed, 1, { id, transaction: client })
      others.push(this.#want(id))
      others.push(this.#want(`keyed-${++this.#count}`))
      await delay(lasts)
      await client.query(commit ? 'COMMIT' : 'ROLLBACK')
      if (commit) this.accepted.push(id)
    })
    await Promise.all(others)
    return held ? `${id}, ${commit ? 'committed' : 'rolled back'}` : null
  }

  async #want(id: string): Promise<void> {
    await this.#persist(() => this.#triarch.submit(keyed, 1, { id }))
    this.accepted.push(id)
  }

  /** A copy of the database is taken, as pg_dump does: everything is read at one moment, and that takes so long (ms). */
  async backup(lasts: number): Promise<string | null> {
    let tables = 0
    const done = await this.#session(async (client) => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      const found = "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'triarch'"
      const { rows } = await client.query<{ name: string }>(found)
      tables = rows.length
      await client.query(`LOCK TABLE ${rows.map(({ name }) => name).join(', ')} IN ACCESS SHARE MODE`)
      for (const { name } of rows) {
        await client.query(`SELECT count(*) FROM ${name}`)
        await delay(lasts / rows.length)
      }
      await client.query('COMMIT')
    })
    return done ? `${tables} tables` : null
  }

  /** Whom poison killed. */
  murders(): Murder[] {
    if (!existsSync(this.#diary)) return []
    const lines = readFileSync(this.#diary, 'utf8').split('\n')
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Murder)
  }

  /** False: the session broke. */
  async #session(work: (client: pg.Client) => Promise<void>): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.#url, application_name: 'chaos' })
    let broken = false
    client.on('error', () => {
      broken = true
    })
    try {
      await client.connect()
      await work(client)
      return true
    } catch (error) {
      if (broken || isBroken(error)) return false
      await this.#patient(error)
      return false
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  async #persist(work: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await work()
        return
      } catch (error) {
        await this.#patient(error)
      }
    }
  }
}

/** The server ended the session, or was not there. */
function isBroken(error: unknown): boolean {
  const { code = '' } = error as { code?: string }
  return /^(?:08|57P|ECONN)/.test(code) || !('code' in (error as object))
}
