// The agent that the conformance program asks for, as connectAgents() runs it.
import { agent, connectAgents, PermanentError } from 'triarch'

const own = agent('conformance', { concurrency: 4 })
let runs = 0
own.action('echo', {
  run: async (input: unknown): Promise<unknown> => input,
  undo: async () => undefined,
  verify: async (input) => ({ done: true, output: input }),
})
own.action('fail', {
  run: async (how: string): Promise<null> => {
    if (how === 'permanent') throw new PermanentError('no use')
    throw new Error('try again')
  },
  verify: async (how) => ({ done: how === 'unknown' && 'unknown' }),
})
own.action('count', { run: async () => ++runs })
own.action('slow', {
  run: async (ms: number, step) => {
    step.log.info('sleeps', { ms })
    step.heartbeat({ checkpoint: { at: 1 }, progress: 0.5 })
    await new Promise((resolve, reject) => {
      setTimeout(resolve, ms)
      step.signal.addEventListener('abort', () => reject(step.signal.reason))
    })
    return 'slept'
  },
})
own.action('wait', {
  run: async (_: null, step, signal): Promise<unknown> => signal ?? step.suspend({ timeout: '1m' }),
})

const { TRIARCH_URL = '', TRIARCH_TOKEN = '', TRIARCH_PLAIN } = process.env
const webSocket = TRIARCH_PLAIN === undefined
const connection = connectAgents(TRIARCH_URL, {
  token: TRIARCH_TOKEN,
  agents: [own],
  webSocket,
  onError: () => undefined,
})
process.once('SIGTERM', () => void connection.close().then(() => process.exit(0)))
