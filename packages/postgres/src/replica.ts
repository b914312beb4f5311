import { isTriarchError } from 'triarch'
import { delay, type Environment } from 'triarch/store'
import type { Settings } from './options.ts'
import { type Ask, Pool } from './pool.ts'
import type { Row } from './query.ts'
import type { Statement } from './slot.ts'

/** The interval between two checks of the replica's lag, while there are reads (ms). */
const LOOK = 1_000
/** For this long after a change by this process, reads must see it (ms). */
const ECHO = 5_000
/** How long a read waits for the replica to reach the required position, and how often it checks (ms); then the primary is asked. */
const WAIT = 250
const PAUSE = 10
/** For this long after the replica failed only the primary is asked (ms). */
const REST = 5_000

const WHERE: Statement = { name: '', sql: 'SELECT pg_current_wal_insert_lsn()::text', numbered: false }
/** Null if the server is not a standby (any more). `$2`: an earlier position that it should have reached. */
const REACHED: Statement = {
  name: '',
  sql: `SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() >= $1::pg_lsn END,
    CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() >= $2::pg_lsn END,
    (extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::bigint`,
  numbered: false,
}

/** The replica has not reached the required position in time. */
class Behind extends Error {}

/**
 * A standby that answers users' large reads as long as it keeps up. If it lags, lacks what this process has just done,
 * or is unreachable, the primary answers: a replica may save work, but never decides anything.
 */
export class Replica {
  readonly #environment: Environment
  readonly #primary: Pool
  readonly #copy: Pool
  readonly #most: number
  #actedAt = Number.NEGATIVE_INFINITY
  #restsUntil = Number.NEGATIVE_INFINITY
  /** The last check: its time, and the lag (ms); null: it could not be asked. */
  #seen: { at: number; lag: number | null } | null = null
  /** The first position of the primary's log that the replica has not reached, and since when. */
  #missing: { place: string; since: number } | null = null
  #looking: Promise<number | null> | null = null

  constructor(
    environment: Environment,
    settings: Settings & { readFrom: NonNullable<Settings['readFrom']> },
    primary: Pool,
  ) {
    const { connection, maxLag } = settings.readFrom
    this.#environment = environment
    this.#primary = primary
    this.#most = maxLag
    this.#copy = new Pool(environment, { ...settings, connection }, 'reads', settings.reads)
  }

  /** Records a change by this process: the next reads must see it. */
  acted(): void {
    this.#actedAt = this.#environment.monotonic()
  }

  /** Runs a read on the replica or the primary. Throws STORE_*, READ_TOO_COSTLY. */
  async run(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    if (this.#environment.monotonic() >= this.#restsUntil) {
      try {
        if (!(await this.#keepsUp())) throw new Behind()
        const place = this.#environment.monotonic() - this.#actedAt <= ECHO ? await this.#place() : null
        return await this.#copy.use(async (ask) => {
          if (place !== null) await this.#reaches(place, ask)
          return ask(statement, values, 0)
        })
      } catch (error) {
        if (isTriarchError(error, 'READ_TOO_COSTLY') || isTriarchError(error, 'STORE_CLOSED')) throw error
        if (!(error instanceof Behind)) this.#fails()
      }
    }
    return this.#primary.run(statement, values)
  }

  /** Returns the lag (ms); null if it cannot be asked. */
  async lag(): Promise<number | null> {
    return this.#look().catch(() => null)
  }

  get load(): Pool['load'] {
    return this.#copy.load
  }

  close(): Promise<void> {
    return this.#copy.close()
  }

  async #keepsUp(): Promise<boolean> {
    const fresh = this.#seen !== null && this.#environment.monotonic() - this.#seen.at < LOOK
    const lag = fresh ? (this.#seen?.lag ?? null) : await this.#look()
    return lag !== null && lag <= this.#most
  }

  /** Measures once for all concurrent callers. */
  #look(): Promise<number | null> {
    this.#looking ??= this.#measure()
      .catch((error) => {
        this.#fails()
        throw error
      })
      .finally(() => {
        this.#looking = null
      })
    return this.#looking
  }

  /**
   * Measures the lag by this process's clock: since when the replica lacks something that the primary had. The time of
   * the replica's last transaction would count the time in which there was none.
   */
  async #measure(): Promise<number | null> {
    const place = await this.#place()
    const asked = this.#environment.monotonic()
    const [row] = await this.#copy.use((ask) => ask(REACHED, [place, this.#missing?.place ?? place], 0))
    const [isThere = null, wasThere = null, age = null] = row ?? []
    if (isThere === null) return this.#note(null)
    if (isThere === true) {
      this.#missing = null
      return this.#note(0)
    }
    const isFirst = this.#seen === null
    if (this.#missing === null || wasThere === true)
      this.#missing = { place, since: asked - (isFirst ? Number(age ?? 0) : 0) }
    return this.#note(this.#environment.monotonic() - this.#missing.since)
  }

  #note(lag: number | null): number | null {
    this.#seen = { at: this.#environment.monotonic(), lag }
    return lag
  }

  /** Returns the present end of the primary's log. */
  async #place(): Promise<string> {
    return String((await this.#primary.run(WHERE, []))[0]?.[0])
  }

  async #reaches(place: string, ask: Ask): Promise<void> {
    const until = this.#environment.monotonic() + WAIT
    for (;;) {
      const isThere = (await ask(REACHED, [place, place], 0))[0]?.[0]
      if (isThere === true) return
      if (isThere !== false || this.#environment.monotonic() >= until) throw new Behind()
      await delay(this.#environment, PAUSE)
    }
  }

  #fails(): void {
    this.#seen = { at: this.#environment.monotonic(), lag: null }
    this.#restsUntil = this.#environment.monotonic() + REST
  }
}
