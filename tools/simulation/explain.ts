import type { Failure } from './campaign.ts'
import { oracleOf } from './oracle.ts'
import { run } from './run.ts'
import { breaks, shrink } from './shrink.ts'

/** Lines of a trace that are shown, and characters of a line. */
const LINES = 100
const WIDTH = 400
const MOST_VIOLATIONS = 5

/** What somebody needs to understand a failure: what broke, the smallest plan that breaks it, and how that went. */
export async function explain({ name, plan, violations }: Failure): Promise<string[]> {
  const oracle = oracleOf(violations[0] ?? '')
  const small = await shrink(plan, breaks(oracle))
  const report = await run(small, { trace: true })
  const story = report.trace.filter((line) => !isNoise(line))
  return [
    `✗ ${name}`,
    ...violations.slice(0, MOST_VIOLATIONS).map((violation) => `  ${violation.slice(0, WIDTH)}`),
    `  the smallest plan found:`,
    `    npm run simulate -- --plan '${JSON.stringify(small)}'`,
    ...report.violations.slice(0, MOST_VIOLATIONS).map((violation) => `  ${violation.slice(0, WIDTH)}`),
    `  its course, by time (ms)${story.length > LINES ? `; the last ${LINES} of ${story.length} lines` : ''}:`,
    ...story.slice(-LINES).map((line) => `    ${line.slice(0, WIDTH)}`),
  ]
}

/** What happens all the time, and tells nothing. */
function isNoise(line: string): boolean {
  return / (timer|soon|answered)$/.test(line) || /^\d+ world [a-zA-Z]+$/.test(line)
}
