import { describe, expect, it } from 'vitest'
import { type AgentOptions, agent, type CacheOptions, type ErrorRecord, workflow } from '../../src/index.ts'
import { type TestOptions, testEngine } from '../../src/testing/index.ts'

interface Ask {
  who: string
}

/** Rejects where it must answer at once: left alone, that would end the process, and so this test. */
const later = (): never => Promise.reject(new Error('later')) as never

/** What becomes of two tasks that differ by who asks. */
async function outcomes(options: AgentOptions, cache?: CacheOptions<Ask>, more: TestOptions = {}) {
  const desk = agent('desk', options)
  const ask = desk.action('ask', {
    retry: { attempts: 1 },
    run: async ({ who }: Ask) => who,
    ...(cache && { cache }),
  })
  const asked = workflow('asked', { run: (input: Ask, task) => task.run(ask, input, { rescue: 'fail' }) })
  const errors: unknown[] = []
  const given = { agents: [desk], workflows: [asked], onError: (error: unknown) => errors.push(error), ...more }
  const engine = await testEngine(given)
  const tasks = [await engine.submit(asked, { who: 'ada' }), await engine.submit(asked, { who: 'bob' })]
  await engine.advance('5s')
  const ends = await Promise.all(
    tasks.map(async (task) => {
      const { output, error } = await task.status()
      return output ?? (error?.cause as ErrorRecord | undefined)?.cause ?? error
    }),
  )
  await engine.stop({ grace: 0 })
  return ends as (string | ErrorRecord)[]
}

const breaker = { minimum: 1, failureRate: 0.5 }
const message = (text: string) => expect.objectContaining({ message: expect.stringContaining(text) })

describe('a key that is no text, or not answered at once', () => {
  it.each<[string, AgentOptions]>([
    ['of a circuit breaker', { circuitBreaker: { ...breaker, key: later } }],
    ['of a rate limit', { rateLimit: { limit: 10, per: '1s', key: later } }],
    ['of shared concurrency', { concurrency: { each: 5, shared: 5, key: later } }],
    ['that is no number', { circuitBreaker: { ...breaker, key: () => Number.NaN as never } }],
    ['as long as a book', { circuitBreaker: { ...breaker, key: () => 'x'.repeat(1_000_000) } }],
    ['that throws', { circuitBreaker: { ...breaker, key: () => raised('must return a string of 1 to 150') } }],
  ])('fails the attempt, and harms nobody else: %s', async (_, options) => {
    const ends = await outcomes(options)
    expect(ends).toEqual([message('must return a string of 1 to 150'), message('must return a string of 1 to 150')])
  })

  it.each<[string, TestOptions]>([
    ['the key', { fairness: { key: later } }],
    ['the weight', { fairness: { key: () => 'a', weight: later } }],
  ])('of fairness counts as none, whichever of them it is: %s', async (_, more) => {
    expect(await outcomes({}, undefined, more)).toEqual(['ada', 'bob'])
    expect(await outcomes(more as AgentOptions)).toEqual(['ada', 'bob'])
  })

  it.each<[string, CacheOptions<Ask>['key'], string]>([
    ['a promise', async ({ who }) => who, 'is a promise'],
    ['a promise that rejects', later, 'is a promise'],
    ['nothing', ({ who }) => (who as unknown as { id?: string }).id, 'must return something'],
    ['no number', ({ who }) => Number(who), 'is NaN'],
    ['what JSON makes {} of', ({ who }) => new Map([[who, who]]), 'is of class Map'],
    ['more than a megabyte', () => 'x'.repeat(2_000_000), 'the limit is 1048576 bytes'],
  ])('of a cache fails the attempt, and gives nobody the answer of another: %s', async (_, key, problem) => {
    expect(await outcomes({}, { ttl: '1m', key: key as never })).toEqual([message(problem), message(problem)])
  })

  it('is as good as none where it is the tags of a cache', async () => {
    const ends = await outcomes({}, { ttl: '1m', key: ({ who }) => who, tags: later })
    expect(ends).toEqual([message('cache.tags must return an array'), message('cache.tags must return an array')])
  })
})

function raised(text: string): never {
  throw new Error(text)
}
