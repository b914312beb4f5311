import type { Terminal } from './terminal.ts'

/** Who wants what a command does, unless `--actor` says it: a job has no user that says anything. */
export function actorOf({ env }: Pick<Terminal, 'env'>): string | undefined {
  return env.TRIARCH_ACTOR || env.USER || undefined
}
