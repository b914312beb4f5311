import { createHash } from 'node:crypto'
import type { Handler } from '../../agent/attempt.ts'
import { capabilities } from '../../definition/action.ts'
import { itemsOf, pageOf, toBatchPolicy } from '../../definition/batching.ts'
import type {
  CheckedSignalOptions,
  ChildOptions,
  Isolation,
  LocalStepOptions,
  Lock,
  LockOptions,
  StepOptions,
  TransactionOptions,
  UndoOptions,
} from '../../definition/call.ts'
import type { Action, LocalBatchDefinition, TaskContext, Workflow } from '../../definition/definition.ts'
import { checkLockName, exclusiveKeys } from '../../definition/exclusive.ts'
import { toHookOrders } from '../../definition/hook.ts'
import { logWriter } from '../../definition/log.ts'
import { checkPriority, policiesOf, toRecordedPolicy } from '../../definition/policy.ts'
import { acceptSignal, signalSchema, undeclared } from '../../definition/signal.ts'
import type { StepContext } from '../../definition/step.ts'
import { checkWorkflow } from '../../definition/workflow.ts'
import { hash32, seededRandom } from '../../environment/random.ts'
import { TriarchError } from '../../error/error.ts'
import { childTaskId, type IfChildExists } from '../../kernel/child/child.ts'
import type { ParentPolicy } from '../../kernel/task/order.ts'
import { type Duration, milliseconds, positiveMilliseconds } from '../../value/duration.ts'
import { checkMetadata } from '../../value/metadata.ts'
import { checkLabel, checkName, checkNewTaskId } from '../../value/name.ts'
import { checkFunction, checkOptions } from '../../value/options.ts'
import { encode } from '../../value/payload.ts'
import { checkSchema, invalid, validateSync } from '../../value/schema.ts'
import { checkTags } from '../../value/tag.ts'
import type { EffectCode } from '../effect.ts'
import { TrackedPromise } from './audience.ts'
import type { Decider } from './decider.ts'

const childKeys = ['id', 'ifExists', 'onCancel', 'undo', 'tags', 'metadata', 'priority', 'taskWithin'] as const
const isolations: readonly Isolation[] = ['read committed', 'repeatable read', 'serializable']
const ifChildExists: readonly IfChildExists[] = ['renew', 'match', 'return', 'reject']
const parentPolicies: readonly ParentPolicy[] = ['cancel', 'detach', 'wait']

/** The `task` that a durable function programs against: checks arguments and turns calls into decisions. */
export function functionContext(decider: Decider): TaskContext {
  const { workflow, taskId, payloadLimit } = decider
  let random: (() => number) | null = null
  let uuids = 0
  return {
    id: taskId,
    workflow: workflow.name,
    version: workflow.version,
    metadata: decider.metadata,
    log: logWriter((level, message, fields) => decider.say(level, message, fields)),
    run: ((what: Action | string, of?: unknown, options?: never) =>
      typeof what === 'string'
        ? given(decider, () => runLocal(decider, what, of as never, options), what)
        : given(decider, () => runAction(decider, what, of, options), what?.key)) as TaskContext['run'],
    transaction: ((...of: [string, EffectCode['run'], TransactionOptions<unknown, unknown>?]) =>
      given(decider, () => transaction(decider, ...of), of[0])) as TaskContext['transaction'],
    sleep: (until) => given(decider, () => sleep(decider, until)),
    waitForSignal: ((name: string, options?: CheckedSignalOptions<unknown>) =>
      given(decider, () => waitForSignal(decider, name, options))) as TaskContext['waitForSignal'],
    call: ((...of: [Workflow, unknown, ChildOptions?]) =>
      given(decider, () => child(decider, 'call', ...of), of[0]?.name)) as TaskContext['call'],
    start: ((...of: [Workflow, unknown, ChildOptions?]) =>
      given(decider, () => child(decider, 'start', ...of))) as TaskContext['start'],
    lock: (...of) => given(decider, () => lock(decider, ...of)),
    batch: ((...of: [string, LocalBatchDefinition]) =>
      given(decider, () => batch(decider, ...of), of[0])) as TaskContext['batch'],
    undo: (fn, options) => undo(decider, fn, options),
    now: () => new Date(decider.at),
    random: () => {
      random ??= seededRandom(hash32(`${taskId}:${decider.firstId}`))
      return random()
    },
    uuid: () => uuidFrom(`${taskId}:${decider.firstId}:${uuids++}`),
    progress: (value) =>
      decider.issue({
        decision: {
          type: 'progressed',
          progress: encode(value, 'progress', payloadLimit, workflow.definition.secrets),
        },
      }),
    patched: (id) => decider.patched(checkName('patch', id)),
    async continueAsNew(input) {
      const payload = encode(input, 'input', payloadLimit, workflow.definition.secrets)
      decider.issue({ decision: { type: 'continueAsNewRequested', input: payload } })
      return new Promise<never>(() => undefined)
    },
  }
}

function runAction(decider: Decider, action: Action, input: unknown, options: StepOptions = {}): TrackedPromise<never> {
  if (typeof action?.definition?.run !== 'function') {
    throw new TriarchError('UNKNOWN_ACTION', 'this is not an action: give what agent.action() returned')
  }
  if (action.definition.input) {
    const checked = validateSync(action.definition.input, input)
    if (checked !== 'async' && 'issues' in checked) throw invalid(checked, 'INVALID_INPUT', `input of ${action.key}`)
  }
  const policy = toRecordedPolicy(action, rescueOf(decider), options, capabilities(action.definition))
  const payload = encode(input, `input of ${action.key}`, decider.payloadLimit, action.definition.secrets)
  const name = options.name ?? action.name
  const id = decider.nextId()
  return decider.decide(
    { decision: { type: 'stepRequested', id, action: action.key, name, input: payload, policy } },
    action.key,
  )
}

function runLocal(
  decider: Decider,
  name: string,
  fn: (step: StepContext) => unknown,
  options: LocalStepOptions<unknown> = {},
): TrackedPromise<never> {
  checkLabel('a step', name)
  checkFunction(`step "${name}"`, fn)
  const { undo } = options
  const policy = toRecordedPolicy(null, rescueOf(decider), options, { undo: undo !== undefined, verify: false })
  const id = decider.nextId()
  const order = { decision: { type: 'stepRequested', id, action: null, name, input: null, policy } } as const
  const outcome = decider.decide(order, name)
  decider.keep(id, {
    run: (_, step) => fn(step),
    undo: undo && ((done, step) => undo({ output: done.output as never }, step)),
    retryIf: options.retry?.retryIf,
    undoRetryIf: options.undoRetry?.retryIf,
    secrets: options.secrets,
  } satisfies Handler)
  return outcome
}

function transaction(
  decider: Decider,
  name: string,
  fn: EffectCode['run'],
  { isolation = 'read committed', undo, ...rest }: TransactionOptions<unknown, unknown> = {},
): TrackedPromise<never> {
  checkLabel('a step', name)
  checkFunction(`transaction "${name}"`, fn)
  if (!isolations.includes(isolation)) {
    throw new TriarchError('INVALID_OPTION', `transaction "${name}": isolation must be one of ${isolations.join(', ')}`)
  }
  const policy = toRecordedPolicy(null, rescueOf(decider), rest, { undo: undo !== undefined, verify: true })
  const id = decider.nextId()
  const order = { decision: { type: 'stepRequested', id, action: null, name, input: null, policy } } as const
  const outcome = decider.decide(order, name)
  const { retryIf } = rest.retry ?? {}
  const undoRetryIf = rest.undoRetry?.retryIf
  decider.keep(id, { effect: { run: fn, undo, retryIf, undoRetryIf, isolation, firstStep: decider.firstId } })
  return outcome
}

function batch(decider: Decider, name: string, definition: LocalBatchDefinition): TrackedPromise<never> {
  checkLabel('a step', name)
  const what = `batch "${name}"`
  const order = toBatchPolicy(what, definition)
  const policy = toRecordedPolicy(null, rescueOf(decider), policiesOf(definition), {
    undo: definition.undo ?? true,
    verify: false,
  })
  const page = pageOf(what, { ...definition, items: itemsOf(definition.items) })
  const id = decider.nextId()
  const outcome = decider.decide(
    { decision: { type: 'stepRequested', id, action: null, name, input: null, policy: { ...policy, batch: order } } },
    name,
  )
  decider.keep(id, { run: page, retryIf: definition.retry?.retryIf } satisfies Handler)
  return outcome
}

function child(
  decider: Decider,
  mode: 'call' | 'start',
  target: Workflow,
  input: unknown,
  options: ChildOptions = {},
): TrackedPromise<never> {
  checkWorkflow(target)
  const { id: childId, tags, onCancel = 'cancel', undo: undoable = true, ifExists = 'renew' } = options
  const { taskWithin = target.definition.taskWithin, priority = target.definition.priority } = options
  const what = `options of child ${target.name}`
  checkOptions(what, options, childKeys)
  if (childId !== undefined) checkNewTaskId(childId)
  if (!ifChildExists.includes(ifExists) || (options.ifExists !== undefined && childId === undefined))
    throw new TriarchError(
      'INVALID_OPTION',
      `${what}: ifExists must be one of ${ifChildExists.join(', ')}, beside an id`,
    )
  if (!parentPolicies.includes(onCancel)) {
    throw new TriarchError('INVALID_OPTION', `${what}: onCancel must be one of ${parentPolicies.join(', ')}`)
  }
  if (priority !== undefined) checkPriority(`${what}: priority`, priority)
  const within = taskWithin === undefined ? undefined : positiveMilliseconds(taskWithin, 'taskWithin')
  let value = input
  if (target.definition.input) {
    const checked = validateSync(target.definition.input, input)
    if (checked !== 'async' && 'issues' in checked) throw invalid(checked, 'INVALID_INPUT', `input of ${target.name}`)
    if (checked !== 'async') value = checked.value
  }
  const exclusive = exclusiveKeys(target, value, undefined)
  const payload = encode(input, `input of ${target.name}`, decider.payloadLimit, target.definition.secrets)
  const ownTags = tags === undefined ? undefined : checkTags(what, tags)
  const given = options.metadata === undefined ? undefined : checkMetadata(what, options.metadata)
  const metadata = given && checkMetadata(what, { ...decider.metadata, ...given })
  const id = decider.nextId()
  const order = {
    decision: {
      type: 'childStarted',
      id,
      task: childId ?? childTaskId({ id: decider.taskId, incarnation: decider.incarnation }, id),
      workflow: target.name,
      version: target.version,
      mode,
      onCancel,
      undo: undoable,
    },
    child: {
      input: payload,
      ...(priority !== undefined && { priority }),
      ...(exclusive.length > 0 && { exclusive }),
      ...(ownTags && { tags: ownTags }),
      ...(metadata && { metadata }),
      ...(within !== undefined && { completeWithin: within }),
      hooks: toHookOrders(what, target.definition.hooks),
      ...(target.definition.secrets && { secrets: target.definition.secrets }),
      ...(childId !== undefined && { ifExists }),
    },
  } as const
  return decider.decide(order, mode === 'call' ? target.name : null)
}

function sleep(decider: Decider, until: Duration | Date): TrackedPromise<never> {
  return decider.decide({
    decision: { type: 'timerStarted', id: decider.nextId(), until: instant(until, decider.at, 'sleep') },
  })
}

function waitForSignal(
  decider: Decider,
  name: string,
  options: CheckedSignalOptions<unknown> = {},
): TrackedPromise<never> {
  checkLabel('a signal', name)
  checkOptions(`options of signal "${name}"`, options, ['schema', 'timeout', 'signal'])
  const { signals } = decider.workflow.definition
  const unknown = undeclared(signals, name)
  if (unknown) throw unknown
  const { schema = signalSchema(signals, name), signal } = options
  checkSchema(`signal "${name}": schema`, schema)
  const until = options.timeout === undefined ? null : instant(options.timeout, decider.at, 'timeout')
  return decider.wish({
    ask: (id) => ({ type: 'waitStarted', id, name, until }),
    // A wrong payload, from whichever sender, must not end a wait for the right one.
    take: (came) => acceptSignal(name, schema, came),
    signal,
  })
}

function lock(decider: Decider, name: string, options: LockOptions = {}): TrackedPromise<never> {
  checkLockName(name)
  checkOptions(`options of lock "${name}"`, options, ['timeout', 'signal'])
  const until = options.timeout === undefined ? null : instant(options.timeout, decider.at, 'timeout')
  return decider.wish({
    ask: (id) => ({ type: 'lockRequested', id, name, until }),
    take: (fence, id) => ({ value: held(decider, name, id, fence as number | null) }),
    signal: options.signal,
  })
}

function held(decider: Decider, name: string, id: number, fence: number | null): Lock {
  let mine = true
  return {
    name,
    fence: fence ?? 0,
    release() {
      if (mine) decider.issue({ decision: { type: 'lockReleased', lock: id } })
      mine = false
    },
  }
}

function undo(decider: Decider, fn: (step: StepContext) => unknown, options: UndoOptions = {}): void {
  checkFunction('undo', fn)
  checkOptions('options of undo', options, ['name', 'retry', 'attemptWithin'])
  const { name = 'undo', retry, attemptWithin } = options
  const policy = toRecordedPolicy(
    null,
    undefined,
    { ...(retry && { undoRetry: retry }), ...(attemptWithin !== undefined && { attemptWithin }) },
    { undo: true, verify: false },
  )
  const id = decider.nextId()
  decider.issue({ decision: { type: 'undoRegistered', id, name, policy } })
  decider.keep(id, { run: () => null, undo: (_, step) => fn(step), retryIf: retry?.retryIf })
}

/** Returns what `ask` gives; if `ask` throws, a rejected promise, so that invalid calls fail like failed steps. */
function given(decider: Decider, ask: () => TrackedPromise<never>, name: unknown = null): Promise<never> {
  try {
    return ask()
  } catch (error) {
    const refused = TrackedPromise.make(name === null ? null : String(name))
    decider.watch.refuse(refused, error)
    return refused
  }
}

function rescueOf({ workflow }: Decider) {
  return workflow.definition.rescue
}

function instant(until: Duration | Date, now: number, what: string): number {
  if (!(until instanceof Date)) return now + milliseconds(until, what)
  const at = until.getTime()
  if (Number.isNaN(at)) throw new TriarchError('INVALID_DURATION', `${what}: the date is invalid`)
  return at
}

/** A UUID (RFC 9562 §5.8, version 8) that is the same each time the same task asks for its n-th. */
function uuidFrom(seed: string): string {
  const hex = createHash('sha256').update(seed).digest('hex')
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
