// Steps that kill real processes, in the store's own agents and in connected ones.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { describe, expect, it } from 'vitest'
import { createServer } from '../src/index.ts'
import { exits, hoards, innocent, pace } from './deadly.process.ts'

const script = fileURLToPath(new URL('deadly.process.ts', import.meta.url))
const workflows = [exits, hoards, innocent]

/** A process of agents that dies of what it runs: another follows each, as an orchestrator would have it. */
class Pool implements AsyncDisposable {
  deaths = 0
  readonly #place: string
  #child: ChildProcess | null = null
  #open = true

  constructor(place: string) {
    this.#place = place
    void this.#keep()
  }

  async #keep(): Promise<void> {
    while (this.#open) {
      const execArgv = ['--max-old-space-size=96']
      this.#child = fork(script, [this.#place], { execArgv, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
      await once(this.#child, 'exit')
      if (this.#open) this.deaths++
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#open = false
    const gone = this.#child && once(this.#child, 'exit')
    this.#child?.kill('SIGKILL')
    await gone
  }
}

/** A scheduler that hosts no agent; `url` for those that connect. */
async function schedule(connects: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-deadly-'))
  const file = join(folder, 'store.db')
  const triarch = new Triarch({
    ...{ store: sqlite(file), workflows, ...pace },
    ...(!connects && { roles: ['scheduler', 'supervisor'] as const }),
  })
  await triarch.start()
  const server = createServer(triarch, { workflows })
  const place = connects ? (await server.listen({ port: 0, signals: [] })).url : file
  return {
    ...{ triarch, place },
    async [Symbol.asyncDispose]() {
      await server.close()
      await triarch.stop({ grace: 0 })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

describe.concurrent('a step that its process dies of', { timeout: 600_000 }, () => {
  it.each([
    // Two losses make it a suspect, and three processes die of trying it; one more may go by what is not known of a death.
    ['by process.exit, in an agent of the store', exits, false, 4, 8],
    ['for want of memory, in an agent of the store', hoards, false, 4, 8],
    // Of a connected process only its silence is known, which counts half: four make it a suspect, and six die of trying it. So does the silence of
    // one that lives, and was not let run for a lease: on a busy machine two of these take the place of two deaths.
    ['by process.exit, in a connected agent', exits, true, 8, 12],
  ] as const)(
    'is quarantined alone after a few deaths, with an alert, and costs those beside it no attempt: %s',
    async (_, poison, connects, least, most) => {
      await using at = await schedule(connects)
      const { triarch } = at
      const alerts: string[] = []
      const tails: string[] = []
      const alerted = new Promise<void>((resolve) => {
        triarch.on('alert', ({ code, task, message }) => {
          if (code === 'LOST_TAIL') tails.push(message)
          if (!message.includes('lost with its process')) return
          alerts.push(task ?? message)
          resolve()
        })
      })
      const beside = await Promise.all([1_500, 2_500, 4_000].map((ms) => triarch.submit(innocent, ms)))
      const bad = await triarch.submit(poison, null)
      await using pool = new Pool(at.place)
      await alerted
      expect(alerts).toEqual([bad.id])
      expect(await bad.status()).toMatchObject({ status: 'paused', pause: { error: { code: 'STEP_KEEPS_DYING' } } })
      const { deaths } = pool
      expect(deaths).toBeGreaterThanOrEqual(least)
      expect(deaths).toBeLessThanOrEqual(most)
      // Nothing dies any more: those beside it end in peace, of the only attempt that they have.
      expect(await Promise.all(beside.map((task) => task.result()))).toEqual(['done', 'done', 'done'])
      for (const task of beside) expect((await task.status()).failures).toBe(0)
      expect(pool.deaths).toBe(deaths)
      expect(alerts).toHaveLength(1)
      // A request that is given back, for no process may try it yet, is not one that the store forgot.
      expect(tails).toEqual([])
    },
  )
})
