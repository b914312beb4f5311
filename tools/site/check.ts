import { compile } from './compile.ts'
import { execute, type Listed } from './execution.ts'
import type { Page, Problem } from './page.ts'
import { samplesOf } from './sample.ts'

export interface Verdict {
  problems: Problem[]
  compiled: number
  ran: number
}

/** Compiles every sample of these pages, and runs those that ask for it. */
export async function check(pages: Page[]): Promise<Verdict> {
  const readings = pages.map((page) => ({ page: page.path, ...samplesOf(page) }))
  const samples = new Map(readings.map(({ page, samples }) => [page, samples]))
  const programs: Listed[] = readings.flatMap(({ page, samples, programs }) =>
    programs.map((program) => ({ page, program, beside: samples })),
  )
  const compiled = readings.reduce((sum, { samples }) => sum + samples.length, 0)
  const found = [readings.flatMap(({ problems }) => problems)]
  if (compiled > 0) found.push(await compile(samples), await execute(programs))
  return { problems: found.flat(), compiled, ran: programs.length }
}
