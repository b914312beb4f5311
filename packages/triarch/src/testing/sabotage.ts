import type { UndoOptions } from '../definition/call.ts'
import type { Action, ActionDefinition, Agent, TaskContext, Workflow } from '../definition/definition.ts'
import type { StepContext } from '../definition/step.ts'

/** One attempt of a step, as seen by its code. */
export interface AttemptCall {
  /** `agent.action`, or the name of a local step. */
  action: string
  /** The operation of the attempt. */
  operation: 'run' | 'verify' | 'undo' | 'finalize'
  /** The id of the task. */
  task: string
  /** The number of the step in its task. */
  step: number
  /** The number of the attempt, from 1. */
  attempt: number
  /** The same for every attempt of the step. */
  idempotencyKey: string
  /** The signal with which a suspended step runs again. */
  received?: string
}

/** Runs in place of the code of each attempt, which it may call. */
export type Saboteur = (call: AttemptCall, work: () => unknown) => unknown

/** The agent with all its actions wrapped. */
export function sabotagedAgent(agent: Agent, meet: Saboteur): Agent {
  const actions = new Map<string, Action>()
  const copy: Agent = Object.freeze({ ...agent, actions })
  for (const [name, action] of agent.actions) {
    actions.set(name, Object.freeze({ ...action, agent: copy, definition: sabotaged(action, meet) }))
  }
  return copy
}

function sabotaged({ key, definition }: Action, meet: Saboteur): ActionDefinition {
  const { run, verify, undo, finalize } = definition
  const at = (operation: AttemptCall['operation'], step: StepContext) => callOf(key, operation, step)
  return {
    ...definition,
    ...(run && {
      run: (input, step, received) => meet(at('run', step), () => run.call(definition, input, step, received)),
    }),
    ...(undo && { undo: (done, step) => meet(at('undo', step), () => undo.call(definition, done, step)) }),
    ...(finalize && {
      finalize: (done, step, tx) => meet(at('finalize', step), () => finalize.call(definition, done, step, tx)),
    }),
    ...(verify && {
      verify: (input, step) =>
        meet(at('verify', step), () => verify.call(definition, input, step)) as ReturnType<typeof verify>,
    }),
  }
}

/** The workflow with all its local steps and compensations wrapped. */
export function sabotagedWorkflow(workflow: Workflow, meet: Saboteur): Workflow {
  const { definition } = workflow
  const { run } = definition
  if (!run) return workflow
  const between = (input: unknown, task: TaskContext) => run.call(definition, input, sabotagedContext(task, meet))
  return Object.freeze({ ...workflow, definition: { ...definition, run: between } })
}

type Local = (step: StepContext) => unknown
type LocalUndo = (done: unknown, step: StepContext) => unknown

function sabotagedContext(task: TaskContext, meet: Saboteur): TaskContext {
  const local = (name: string, work: Local): Local =>
    typeof work === 'function' ? (step) => meet(callOf(name, 'run', step), () => work(step)) : work
  const localUndo = (name: string, undo: LocalUndo): LocalUndo => {
    return (done, step) => meet(callOf(name, 'undo', step), () => undo(done, step))
  }
  const run = task.run as (what: unknown, work: unknown, options?: { undo?: LocalUndo }) => unknown
  return {
    ...task,
    run: ((what: unknown, work: unknown, options?: { undo?: LocalUndo }) => {
      if (typeof what !== 'string') return run(what, work, options)
      const undo = options?.undo && { undo: localUndo(what, options.undo) }
      return run(what, local(what, work as Local), options && { ...options, ...undo })
    }) as TaskContext['run'],
    undo: (work: Local, options?: UndoOptions) => {
      const name = options?.name ?? 'undo'
      task.undo((step) => meet(callOf(name, 'undo', step), () => work(step)), options)
    },
  }
}

function callOf(action: string, operation: AttemptCall['operation'], step: StepContext): AttemptCall {
  const { taskId: task, stepId, attempt, idempotencyKey, received } = step
  return {
    action,
    operation,
    task,
    step: stepId,
    attempt,
    idempotencyKey,
    ...(received && { received: received.name }),
  }
}
