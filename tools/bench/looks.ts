import type { RetentionRule } from '../../packages/triarch/src/store/retention.ts'
import { type Figure, median, percentile, timed } from './measure.ts'
import { type Subject, start, threeSteps } from './subject.ts'

/** Of a call that looks for something, in a store that has much else. */
interface Look {
  what: string
  look: () => Promise<unknown>
}

/** No task of the measure is so old: nothing is dropped. */
const AGES = 100 * 365 * 86_400_000

/** What every call that looks at tasks costs (ms): those of the engine itself, and one page of each kind of list; in turns with the same in an empty store. */
export async function looks(full: string, empty: string, quick: boolean): Promise<Figure[]> {
  const times = quick ? 5 : 300
  // They run nothing, and lead nothing.
  await using crowded = await start(full, { roles: [] })
  await using bare = await start(empty, { roles: [] })
  const there = [...(await ofEngine(bare)), ...lists(bare)]
  const figures: Figure[] = []
  for (const [index, { what, look }] of [...(await ofEngine(crowded)), ...lists(crowded)].entries()) {
    const spans: { full: number[]; empty: number[] } = { full: [], empty: [] }
    for (let time = 0; time < times; time++) {
      spans.full.push(await timed(look))
      spans.empty.push(await timed(() => there[index]?.look()))
    }
    const of = (those: readonly number[]) =>
      [50, 99].map((percent) => percentile(those, percent).toFixed(1)).join(' and ')
    const note = `p50 and p99: ${of(spans.full)}; in an empty store ${of(spans.empty)}`
    figures.push({
      what: `${what} p99`,
      value: percentile(spans.full, 99),
      unit: 'ms',
      better: 'lower',
      target: 20,
      note,
    })
  }
  return [...figures, await starting(full, empty, quick)]
}

/** From the store's opening until the node has its lease and may work; it stops outside of that. */
async function starting(full: string, empty: string, quick: boolean): Promise<Figure> {
  const spans: Record<string, number[]> = { [full]: [], [empty]: [] }
  for (let time = 0; time < (quick ? 1 : 10); time++)
    for (const place of [full, empty]) {
      const begun = performance.now()
      const subject = await start(place)
      spans[place]?.push(performance.now() - begun)
      await subject[Symbol.asyncDispose]()
    }
  const [there, bare] = [full, empty].map((place) => median(spans[place] ?? []))
  const note = `in an empty store ${bare?.toFixed(1)} ms`
  return { what: 'start of a node', value: there ?? Number.NaN, unit: 'ms', better: 'lower', target: 100, note }
}

async function ofEngine({ store }: Subject): Promise<Look[]> {
  const node = '00000000-0000-7000-8000-000000000000'
  const name = 'growth'
  const token = (await store.lead({ name, node, ttl: 3_600_000 })) ?? 0
  const rules: RetentionRule[] = [{ workflow: null, result: 'success', age: AGES }]
  const runnable = [{ workflow: threeSteps.name, version: threeSteps.version }]
  return [
    { what: 'claim', look: () => store.claim({ node, runnable, limit: 100 }) },
    { what: 'sweep', look: () => store.sweep({ name, token, limit: 500, silent: [] }) },
    { what: 'retention', look: () => store.prune({ name, token, rules, limit: 500, records: 10_000 }) },
  ]
}

/** By each condition that leads to tasks, and by some that none leads to: one page, as it is shown. */
function lists({ engine }: Subject): Look[] {
  const filters = {
    newest: '',
    open: 'status:running',
    failed: 'outcome:error',
    'with an error': 'error:*',
    'of a tag': 'tag.customer:c-7',
    'of a workflow': `workflow:${threeSteps.name}`,
    'of another workflow': 'workflow:nobody',
    'of a workflow and a time': `workflow:${threeSteps.name} age:<1s`,
    'of a time': 'age:<1s',
    'of an old time': 'age:>365d',
    'of a beginning of an id': 'id:no-such*',
  }
  return Object.entries(filters).map(([what, filter]) => ({
    what: `list ${what}`,
    look: () => engine.tasks.list({ ...(filter !== '' && { filter }), limit: 50 }),
  }))
}
