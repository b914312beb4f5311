import { appendFileSync } from 'node:fs'
import { configureGlobal } from 'fast-check'
import { TestRunner } from 'vitest'
import { course, mostOf } from './embed.ts'
import { LiveSchema } from './live.ts'
import { errand } from './plugin.ts'

type Test = Parameters<TestRunner['onBeforeTryTask']>[0]
type Try = Parameters<TestRunner['onBeforeTryTask']>[1]

/** A test that takes so much longer than without a mutant (ms) hangs. */
const LIMIT = { times: 20, plus: 2_000 }

// A failure is all that is asked for; to make it small takes its time.
configureGlobal({ endOnFailure: true })

const asked = errand()
const state = course()
const live = LiveSchema.of(asked?.target ?? '')
const { setTimeout, clearTimeout } = globalThis

function tell(line: object): void {
  if (asked) appendFileSync(asked.report, `${JSON.stringify(line)}\n`)
}

function nameOf(test: Pick<Test, 'name' | 'suite'>): string {
  const names = [test.name]
  for (let suite = test.suite; suite; suite = suite.suite) names.unshift(suite.name)
  return names.join(' > ')
}

/** What the last try left running ends before the next begins, as far as it ends by itself. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

/**
 * Runs each test once and tells which mutants it reached, or once for each mutant it is to judge. A failure counts when
 * it comes again: a test that fails by chance notices nothing.
 */
class MutantRunner extends TestRunner {
  readonly #noticed = new Set<number>()
  readonly #lists = new Map<string, number[]>()
  #failed = 0
  #started = 0
  #used = process.cpuUsage()

  override async onBeforeRunTask(test: Test): Promise<void> {
    if (asked?.judge) {
      const mutants = this.#mutantsOf(test)
      if (mutants.length === 0) test.mode = 'skip'
      test.repeats = mutants.length - 1
      test.retry = 1
    }
    await super.onBeforeRunTask(test)
  }

  override onBeforeTryTask(test: Test, options: Try): void {
    super.onBeforeTryTask(test, options)
    const mutant = this.#mutantsOf(test)[options.repeats]
    if (asked?.judge) state.active = mutant ?? null
    else state.reached = new Set()
    const known = asked?.judge?.tests[nameOf(test)]
    state.most = known ? mostOf(known.asked) : Number.POSITIVE_INFINITY
    state.asked = 0
    this.#started = performance.now()
    this.#used = process.cpuUsage()
    if (mutant !== undefined && options.retry === 0) {
      this.#failed = 0
      tell({ trying: mutant, test: nameOf(test) })
    }
  }

  async runTask(test: Test): Promise<void> {
    const body = TestRunner.getTestFn(test)
    const known = asked?.judge?.tests[nameOf(test)]
    if (!known) return body()
    const mutant = state.active
    // Noticed by an earlier test.
    if (mutant === null || this.#noticed.has(mutant)) return
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('hangs')), known.ms * LIMIT.times + LIMIT.plus)
    })
    try {
      await live?.change(mutant)
      await Promise.race([body(), limit])
    } finally {
      clearTimeout(timer)
      await live?.restore()
    }
  }

  override async onAfterRetryTask(test: Parameters<TestRunner['onAfterRetryTask']>[0], options: Try): Promise<void> {
    await super.onAfterRetryTask(test, options)
    const name = nameOf(test)
    const failed = test.result?.state === 'fail'
    if (!asked?.judge) {
      // One that fails by itself judges nothing.
      if (failed) tell({ fails: name })
      else
        tell({
          file: test.file.name,
          test: name,
          ...this.#cost(),
          asked: state.asked,
          reached: [...(live?.reached() ?? state.reached ?? [])],
        })
      return
    }
    const mutant = state.active
    if (mutant === null) return
    if (failed && ++this.#failed === 2) {
      this.#noticed.add(mutant)
      tell({ noticed: mutant, test: name })
    }
    state.active = null
    await settled()
  }

  #cost(): { ms: number; cpu: number } {
    const { user, system } = process.cpuUsage(this.#used)
    return { ms: performance.now() - this.#started, cpu: (user + system) / 1_000 }
  }

  #mutantsOf(test: Test): number[] {
    const name = nameOf(test)
    const known = this.#lists.get(name)
    if (known) return known
    const mutants = (asked?.judge?.tests[name]?.mutants ?? []).filter((one) => !this.#noticed.has(one))
    this.#lists.set(name, mutants)
    return mutants
  }
}

// Vitest takes a runner by this name only.
export { MutantRunner as default }
