import { type Figure, median } from '../measure.ts'

export type Share = Pick<Figure, 'value' | 'unit' | 'better' | 'note'>

/**
 * How fast it is beside the bare engine (%), by three-step tasks: the median of many short pairs, each begun by the other of the two, so that
 * what else the machine does meets them alike.
 */
export async function compared(
  [tasks, count]: readonly [tasks: number, pairs: number],
  run: Record<'bare' | 'own', (tasks: number) => Promise<number>>,
): Promise<Share> {
  for (const which of ['bare', 'own', 'bare', 'own'] as const) await run[which](tasks / 2)
  const pairs: { bare: number; own: number }[] = []
  for (let pair = 0; pair < count; pair++) {
    const times = { bare: 0, own: 0 }
    for (const which of pair % 2 === 0 ? (['bare', 'own'] as const) : (['own', 'bare'] as const))
      times[which] = await run[which](tasks)
    pairs.push(times)
  }
  const speed = (ms: number) => `${Math.round((tasks * 3_000) / ms).toLocaleString('en')}/s`
  const note = `${speed(median(pairs.map((it) => it.own)))} beside ${speed(median(pairs.map((it) => it.bare)))}`
  return { value: median(pairs.map((it) => (100 * it.bare) / it.own)), unit: '%', better: 'higher', note }
}
