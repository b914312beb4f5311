import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { agent, Triarch, type TriarchOptions, workflow } from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'

/** A step that never ends where it was tried first. */
const svc = agent('svc')
export const stubborn = svc.action('stubborn', {
  run: (_: null, step) => (step.attempt === 1 ? new Promise<number>(() => undefined) : process.pid),
})
export const errand = workflow('errand', { run: (_: null, task) => task.run(stubborn, null) })
export const errands = { workflows: [errand], agents: [svc] } as const

/** A node in a process of its own, which tells on being asked whom it has found dead. */
export async function serve(store: StoreFactory, options: Partial<TriarchOptions>, errands: object): Promise<void> {
  const dead: string[] = []
  const works = options.roles?.includes('scheduler') ?? true
  const triarch = new Triarch({ store, ...options, ...(works && errands) })
  triarch.on('recovered', ({ deadNodes }) => dead.push(...deadNodes))
  await triarch.start()
  process.once('disconnect', () => process.exit())
  process.on('message', () => process.send?.(dead))
  process.send?.('started')
}

/** Starts it. */
export async function served(module: string, target: string, options: object) {
  const child: ChildProcess = fork(module, [target, JSON.stringify(options)], { execArgv: [] })
  await once(child, 'message')
  return {
    pid: child.pid ?? 0,
    async dead(): Promise<string[]> {
      child.send('dead?')
      const [dead] = (await once(child, 'message')) as [string[]]
      return dead
    },
    signal: (signal: 'SIGSTOP' | 'SIGCONT') => child.kill(signal),
    async kill() {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}
