import { agent, PermanentError, TransientError, UnknownOutcomeError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const bank = agent('bank')
/** Well, once it was tried so often. */
const flaky = bank.action('flaky', {
  retry: { attempts: 50, backoff: { initial: '2s', jitter: true } },
  run(needed: number, step) {
    if (step.attempt < needed) throw new TransientError('busy', { retryAfter: 5_000 })
    return 'done'
  },
})
const hopeless = bank.action('hopeless', {
  run() {
    throw new PermanentError('no such account')
  },
})
/** Hangs until it is given up, the first two times. */
const slow = bank.action('slow', {
  attemptWithin: '20s',
  retry: { attempts: 50 },
  run: (_: null, step) =>
    step.attempt > 2
      ? 'in time'
      : new Promise<string>((_, reject) =>
          step.signal.addEventListener('abort', () => reject(new UnknownOutcomeError('hung'))),
        ),
})
const late = bank.action('late', {
  stepWithin: '1m',
  retry: { attempts: 1_000, backoff: { initial: '7s', factor: 1 } },
  run() {
    throw new TransientError('closed')
  },
})
const codeOf = (error: unknown) => (error as { code?: string }).code

const payment = workflow('payment', {
  rescue: 'fail',
  async run(_: null, task) {
    const tried = await task.run(flaky, 3)
    const failed = await task.run(hopeless, null).catch(codeOf)
    const expired = await task.run(late, null).catch(codeOf)
    return { tried, failed, expired, slow: await task.run(slow, null) }
  },
})

/** Attempts that fail for a while, for good, run into their complete-by, or go on until the step's. */
export const retries: Feature = {
  name: 'retry',
  workflows: [payment],
  agents: [bank],
  script: [{ at: 1, do: ({ triarch }) => triarch.submit(payment, null, { id: 'pay' }) }],
}
