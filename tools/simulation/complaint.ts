import type { CommitOutcome } from '../../packages/triarch/src/store/port.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'

/** Of a commit, how many of its transitions the store refused. */
export function refusals({ name }: LinkCall, answer: unknown): string {
  const refused = name === 'commit' ? (answer as CommitOutcome[]).filter(({ ok }) => !ok).length : 0
  return refused > 0 ? `: ${refused} refused` : ''
}

const harmless: readonly string[] = ['STORE_BUSY', 'STORE_UNANSWERED', 'STORE_CLOSED', 'NODE_STOPPED', 'NODE_FENCED']

/** Whether a node may report it, while there are faults. */
export function isHarmless(error: unknown): boolean {
  const { code, message = '', cause } = error as { code?: string; message?: string; cause?: unknown }
  // A rule of alerts says why it could not look.
  if (message.startsWith('alert rule') && cause) return isHarmless(cause)
  return message.startsWith('injected') || (code !== undefined && harmless.includes(code))
}

export function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
