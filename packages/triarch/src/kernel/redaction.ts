import type { TaskEvent } from './event.ts'
import { changed, eventFields, type Kind, plannedFields, policyFields, type Shape } from './field.ts'
import type { Json } from './json.ts'
import type { Plan } from './plan/plan.ts'
import { literals } from './plan/reference.ts'
import { HIDDEN, hideAt, type SecretPaths, SecretTexts, secretsAt } from './secret.ts'
import type { RecordedPolicy } from './step/policy.ts'

/**
 * Which parts of a task's data are secret: marked paths, and every text found at such a path or received with a value from another task.
 */
export class Redaction {
  workflow: SecretPaths = []
  readonly steps: Map<number, SecretPaths> = new Map()
  readonly texts: SecretTexts = new SecretTexts()

  /** Adds what the event marks as secret. */
  add(event: TaskEvent): this {
    if (event.type === 'submitted') this.workflow = event.secrets ?? NONE
    if (event.type === 'planned') {
      for (const [index, step] of event.plan.steps.entries())
        if (step.action !== null) this.#mark(event.plan.first + index, event.plan.policies[step.policy ?? 0])
    }
    if (event.type === 'stepRequested' || event.type === 'fallbackRequested' || event.type === 'stepCarried')
      this.#mark(event.id, event.policy)
    this.#changed(event, (kind, part, paths) => {
      if (kind === 'secrets') for (const text of part as string[]) this.texts.add(text)
      if (kind === 'payload' && paths.length > 0)
        secretsAt(event.type === 'planned' ? literals(part as Json) : (part as Json), paths, this.texts)
      return part
    })
    return this
  }

  /** The redaction of the run that follows. `continuedAsNew` itself names the secret texts in what it passes on. */
  continued(): Redaction {
    const next = new Redaction()
    next.workflow = this.workflow
    return next
  }

  /** Whether nothing is secret. */
  get isEmpty(): boolean {
    return this.workflow.length === 0 && this.steps.size === 0 && this.texts.size === 0
  }

  /** The event with its secrets hidden, for display. */
  shown(event: TaskEvent): TaskEvent {
    if (this.isEmpty && !('secretTexts' in event)) return event
    return this.#changed(event, (kind, part, paths) => {
      if (kind === 'secrets') return undefined
      if (kind === 'unknown') return HIDDEN
      return this.texts.scrub(kind === 'payload' ? hideAt(part as Json, paths) : part)
    })
  }

  /**
   * The event as it is recorded: secrets are removed from errors and people's remarks, because these also reach rows, alerts and telemetry.
   */
  recorded(event: TaskEvent): TaskEvent {
    if (this.texts.size === 0) return event
    return this.#changed(event, (kind, part) => (kind === 'error' || kind === 'words' ? this.texts.scrub(part) : part))
  }

  /** Hides the secrets in a payload of the workflow itself: its input, progress or output. */
  hide<V extends Json | undefined>(value: V): V {
    return value === undefined ? value : (this.texts.scrub(hideAt(value, this.workflow)) as V)
  }

  /** Hides the secrets in a payload of a step: its input, progress or output. */
  hideOf<V extends Json | undefined>(step: number, value: V): V {
    return value === undefined ? value : (this.texts.scrub(hideAt(value, this.steps.get(step) ?? NONE)) as V)
  }

  /** Remembers the secret paths of a step's action, which apply to its later requests as well. */
  #mark(id: number, policy: RecordedPolicy | undefined): void {
    if (policy?.secrets && policy.secrets.length > 0) this.steps.set(id, policy.secrets)
  }

  #changed(event: TaskEvent, to: (kind: Kind, part: unknown, paths: SecretPaths) => unknown): TaskEvent {
    if (event.type === 'planned') return this.#planned(event, to)
    const paths = this.#pathsOf(event)
    const shape: Shape = Object.hasOwn(eventFields, event.type) ? eventFields[event.type] : {}
    return changed(event, shape, (kind, part) => to(kind, part, paths))
  }

  /** The paths of the event's step, or those of the workflow if it concerns none. */
  #pathsOf(event: TaskEvent): SecretPaths {
    const step = event.type === 'reset' ? event.step : 'id' in event ? event.id : undefined
    return step == null ? this.workflow : (this.steps.get(step) ?? NONE)
  }

  /** A plan contains the inputs of many steps, each with its own paths. */
  #planned<E extends { plan: Plan }>(event: E, to: (kind: Kind, part: unknown, paths: SecretPaths) => unknown): E {
    const by = <V>(value: V, shape: Shape, paths: SecretPaths) =>
      changed(value, shape, (kind, part) => to(kind, part, paths))
    const { plan } = event
    const steps = plan.steps.map((step, n) => by(step, plannedFields, this.steps.get(plan.first + n) ?? NONE))
    const policies = plan.policies.map((policy) => by(policy, policyFields, policy.secrets ?? NONE))
    return { ...event, plan: { ...plan, steps, policies, output: by(plan.output, 'payload', this.workflow) } }
  }
}

const NONE: SecretPaths = []

/** The redaction of a history. Hiding its secrets needs nothing else. */
export function redactionOf(events: readonly TaskEvent[]): Redaction {
  const redaction = new Redaction()
  for (const event of events) redaction.add(event)
  return redaction
}

/** Whether the event is the first that brings secrets into a task. It is checked for each event, and mostly decided by the event's type. */
export function bringsSecrets(event: TaskEvent): boolean {
  switch (event.type) {
    case 'submitted':
      return event.secrets !== undefined || event.secretTexts !== undefined
    case 'stepRequested':
    case 'fallbackRequested':
    case 'stepCarried':
      return marks(event.policy)
    case 'planned':
      return event.plan.policies.some(marks)
    case 'childStopped':
    case 'continuedAsNew':
      return event.secretTexts !== undefined
    default:
      return false
  }
}

function marks({ secrets }: RecordedPolicy): boolean {
  return secrets !== undefined && secrets.length > 0
}
