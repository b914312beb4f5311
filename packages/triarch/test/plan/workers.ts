import { agent, PermanentError, type RescueOption } from '../../src/index.ts'

/** An agent that writes down what it does and undoes; names in `held` wait to be let go, those in `broken` fail. */
export function workers(rescue?: RescueOption) {
  const log: string[] = []
  const gates = new Map<string, () => void>()
  const held = new Set<string>()
  const broken = new Set<string>()
  const own = agent('work')
  const hold = (name: string) => new Promise<void>((resolve) => gates.set(name, resolve))
  const act = own.action('act', {
    retry: { attempts: 2, backoff: { initial: '1s', jitter: false } },
    ...(rescue !== undefined && { rescue }),
    async run(input: { name: string; of?: unknown }, step) {
      log.push(input.name)
      if (held.has(input.name)) await hold(input.name)
      if (broken.has(input.name)) throw new PermanentError(`${input.name} is broken`)
      return { name: input.name, of: input.of ?? null, key: step.idempotencyKey }
    },
    async undo({ output }) {
      if (held.has(`-${output.name}`)) await hold(`-${output.name}`)
      log.push(`-${output.name}`)
    },
  })
  return { log, gates, held, broken, agents: [own], own, act }
}
