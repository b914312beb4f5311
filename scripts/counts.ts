// A reporter for vitest that leaves the counts of a run where scripts/test.ts looks for them.
import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule, TestRunEndReason } from 'vitest/node'

export interface Counts {
  passed: number
  /** Tests that failed, and whatever else went wrong: a file that does not load, a hook, an error nobody caught. */
  failed: number
  skipped: number
  /** The tests among those that failed. */
  failures: readonly Failure[]
}

export interface Failure {
  file: string
  /** With those of the suites that it is in before it, as vitest matches it (`-t`): "suite > test". */
  name: string
}

/** Where the counts are written to, as JSON; nothing is written without it. */
export const COUNTS = 'TRIARCH_TEST_COUNTS'

export function count(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): Counts {
  const failures: Failure[] = []
  const counts = { passed: 0, failed: errors.length, skipped: 0, failures } satisfies Counts
  for (const module of modules) {
    counts.failed += module.errors().length
    for (const suite of module.children.allSuites()) counts.failed += suite.errors().length
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state === 'failed') failures.push({ file: module.moduleId, name: test.fullName })
      counts[state === 'pending' ? 'failed' : state]++ // what is pending when all is over never ran
    }
  }
  if (reason !== 'passed') counts.failed ||= 1
  return counts
}

// biome-ignore lint/style/noDefaultExport: this is how vitest finds a reporter
export default class implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[], reason: TestRunEndReason): void {
    const file = process.env[COUNTS]
    if (file) writeFileSync(file, JSON.stringify(count(modules, errors, reason)))
  }
}
