import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Figure, Measure } from '../measure.ts'
import { start, threeSteps } from '../subject.ts'

/** Tasks a second: far less than the engine could, for what is asked is whether vacuum keeps up with what comes for hours. */
const RATE = 300
/** How often some of them are submitted (ms). */
const BEAT = 50
/** Looks at the tables, one after each such part of the time. */
const LOOKS = 12
/** A task is kept for this part of the time: from then on as many are dropped as come. */
const KEPT = 1 / 10
/** By this look the tables have what they are going to have. */
const FULL = 4

/** Where rows come and go. */
const tables = ['tasks', 'history', 'inbox', 'work', 'calls'] as const

interface Look {
  bytes: number
  rows: number
  /** Versions of rows that nobody needs any more, and that are not vacuumed yet. */
  dead: number
  vacuums: number
}

export const bloat: Measure = {
  name: 'bloat',
  about:
    'what the tables take while tasks come and retention drops as many, hour after hour: at the end, against the third part of it',
  async run({ quick, minutes, place }) {
    const length = quick ? 3_000 : (minutes ?? 6) * 60_000
    const url = await place('bloat')
    const kept = `${Math.ceil(length * KEPT)}ms` as const
    await using subject = await start(url, { retention: { success: kept } })
    const reader = new pg.Client({ connectionString: url })
    await reader.connect()
    let failed: unknown
    let submitted = 0
    let open = true
    const customers = (async () => {
      for (const began = performance.now(); open; await pause(BEAT)) {
        const due = Math.floor(((performance.now() - began) / 1_000) * RATE) - submitted
        submitted += due
        if (due > 0)
          await subject.engine.submitMany(
            threeSteps,
            Array.from({ length: due }, () => ({ input: { n: 1 } })),
          )
      }
    })().catch((error: unknown) => {
      failed = error
    })
    try {
      const looks: Map<string, Look>[] = []
      for (let look = 0; look < LOOKS && failed === undefined; look++) {
        await pause(length / LOOKS)
        looks.push(await lookAt(reader))
      }
      if (failed !== undefined) throw failed
      return figuresOf(
        looks,
        `${submitted} tasks in ${Math.round(length / 60_000)} minutes, each kept for ${Math.round((length * KEPT) / 1_000)} s`,
      )
    } finally {
      open = false
      await customers
      await reader.end()
    }
  },
}

function figuresOf(looks: readonly Map<string, Look>[], note: string): Figure[] {
  const [then, now] = [looks[FULL - 1], looks.at(-1)]
  const sum = (look: Map<string, Look> | undefined) =>
    [...(look?.values() ?? [])].reduce((all, { bytes }) => all + bytes, 0)
  const figures: Figure[] = [
    { what: 'growth', value: sum(now) / sum(then), unit: '×', better: 'lower', target: 1.2, note },
  ]
  for (const table of tables) {
    const found = now?.get(table)
    if (!found) continue
    const { bytes, rows, dead, vacuums } = found
    const before = (then?.get(table)?.bytes ?? 0) / 2 ** 20
    const size = { what: table, value: bytes / 2 ** 20, unit: 'MiB', better: 'lower' as const }
    figures.push({
      ...size,
      note: `${before.toFixed(1)} before; ${rows} rows, ${dead} dead; vacuumed ${vacuums} times`,
    })
  }
  return figures
}

async function lookAt(reader: pg.Client): Promise<Map<string, Look>> {
  const { rows } = await reader.query<Record<'name' | keyof Look, string>>(
    `SELECT relname AS name, pg_total_relation_size(relid) AS bytes, n_live_tup AS rows, n_dead_tup AS dead, autovacuum_count AS vacuums
     FROM pg_stat_user_tables WHERE schemaname = 'triarch' AND relname = ANY ($1)`,
    [tables],
  )
  return new Map(
    rows.map(({ name, bytes, rows, dead, vacuums }) => [
      name,
      { bytes: Number(bytes), rows: Number(rows), dead: Number(dead), vacuums: Number(vacuums) },
    ]),
  )
}
