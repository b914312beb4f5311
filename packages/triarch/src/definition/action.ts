import { TriarchError } from '../error/error.ts'
import type { ActionDefinition, ThreadActionDefinition } from './definition.ts'

type Capable = Pick<ActionDefinition, 'undo' | 'verify'> & { readonly batch?: { readonly undo: boolean } }

/** Whether steps of the action can be undone and verified. */
export function capabilities({ undo, verify, batch }: Capable): { undo: boolean; verify: boolean } {
  return { undo: batch?.undo ?? undo !== undefined, verify: verify !== undefined }
}

/** The action whose `run` finalizes another's. */
export function finalizeKey(key: string): string {
  return `${key}:finalize`
}

/** The definition of an action that runs in threads, as an ordinary one; code that runs it checks `thread`. Throws INVALID_OPTION. */
export function threadDefinition(what: string, definition: ThreadActionDefinition): ActionDefinition {
  const { thread, undo, verify, ...rest } = definition
  for (const [name, value] of Object.entries({ undo, verify })) {
    if (value === undefined || typeof value === 'boolean') continue
    throw new TriarchError('INVALID_OPTION', `${what}: with thread, ${name} says whether the module exports it`)
  }
  for (const name of ['run', 'plan', 'finalize'] as const) {
    if (rest[name] !== undefined)
      throw new TriarchError('INVALID_OPTION', `${what}: thread and ${name} exclude each other`)
  }
  const elsewhere = () => {
    throw new TriarchError('INVALID_OPTION', `${what} runs in a thread`)
  }
  return {
    ...rest,
    thread: { module: moduleOf(what, thread), undo: undo === true, verify: verify === true },
    run: elsewhere,
    ...(undo && { undo: elsewhere }),
    ...(verify && { verify: elsewhere }),
  }
}

function moduleOf(what: string, thread: unknown): string {
  const href = thread instanceof URL ? thread.href : thread
  if (typeof href === 'string' && /^(?:file|data):/.test(href)) return href
  const message = `${what}: thread must be a module of yours, as new URL('./code.ts', import.meta.url)`
  throw new TriarchError('INVALID_OPTION', message)
}
