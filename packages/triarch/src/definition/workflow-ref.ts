import type { NoSignals, SignalSchemas } from './signal.ts'

/**
 * Names a workflow, with the types of a definition and without its code, for programs that only start tasks. Every `Workflow` is one.
 * @example const started = (ref: WorkflowRef<{ amount: number }>) => client.submit(ref, { amount: 10 })
 */
export interface WorkflowRef<I = unknown, O = unknown, E extends SignalSchemas = NoSignals> {
  /** Its name. */
  readonly name: string
  /** One of several versions; the one registered last in the process that starts the task. */
  readonly version?: string
  /** Exists for the compiler only. */
  readonly '~types'?: { readonly input: I; readonly output: O; readonly signals: E }
}

/**
 * A workflow by its name. `W` is the type of its definition, which is imported as a type, so that its code is not part of a browser bundle.
 * Whether a workflow of this name exists is only checked when it is used.
 * @example
 * // import type { fulfil } from './workflows.ts'
 * const order = workflowRef<typeof fulfil>('fulfil')
 * const { receipt } = await (await client.submit(order, { id: 'o-1', amount: 10 })).result()
 */
export function workflowRef<W extends WorkflowRef<unknown, unknown, SignalSchemas>>(
  name: string,
  version?: string,
): WorkflowRef<
  NonNullable<W['~types']>['input'],
  NonNullable<W['~types']>['output'],
  NonNullable<W['~types']>['signals']
> {
  return { name, ...(version !== undefined && { version }) }
}
