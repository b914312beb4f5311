import { agent, PermanentError, workflow } from 'triarch'

/** What the tests of the command run: a module as users write them. */
export const desk = agent('desk')
const stamp = desk.action('stamp', {
  retry: { attempts: 1 },
  run(text: string, step) {
    step.log.info('stamping', { text })
    if (text === 'bad') throw new PermanentError('not a word to stamp')
    return text.toUpperCase()
  },
  undo: () => undefined,
})

export const bank = agent('bank', {
  circuitBreaker: { failureRate: 0.5, window: '30s', open: '10s', probes: 3 },
  rateLimit: { limit: 1_000, per: '1s' },
})
bank.action('pay', { run: (amount: number) => amount })

export const letter = workflow('letter', { run: (text: string, task) => task.run(stamp, text) })
export const approval = workflow('approval', {
  async run(text: string, task) {
    await task.run(stamp, text)
    return task.waitForSignal('approved')
  },
})
export const careful = workflow('careful', { rescue: 'pause', run: (text: string, task) => task.run(stamp, text) })
