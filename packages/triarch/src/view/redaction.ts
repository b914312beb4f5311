import type { TaskEvent } from '../kernel/event.ts'
import type { Json } from '../kernel/json.ts'
import type { PlannedStep } from '../kernel/plan/plan.ts'
import { hideAt, type SecretPaths, scrub, secretsAt } from '../kernel/secret.ts'
import type { RecordedPolicy } from '../kernel/step/policy.ts'
import type { PlanView } from '../planning/preview.ts'

/** What of a task's history may be shown: paths that are marked as secret, and every text that was found there. */
export interface Redaction {
  workflow: SecretPaths
  steps: ReadonlyMap<number, SecretPaths>
  texts: ReadonlySet<string>
}

/** What the history says about secrets: nothing else is needed to hide them. */
export function redactionOf(events: readonly TaskEvent[]): Redaction {
  return new GrowingRedaction().add(events)
}

/** The same while the history grows. */
export class GrowingRedaction implements Redaction {
  workflow: SecretPaths = []
  readonly steps: Map<number, SecretPaths> = new Map()
  readonly texts: Set<string> = new Set()

  add(events: readonly TaskEvent[]): this {
    const { steps, texts } = this
    for (const event of events) {
      if (event.type === 'submitted') this.workflow = event.secrets ?? []
      if (event.type === 'planned') {
        for (const [index, step] of event.plan.steps.entries())
          mark(steps, event.plan.first + index, policyOf(event.plan, step))
      }
      if (event.type === 'stepRequested' || event.type === 'stepCarried') mark(steps, event.id, event.policy)
      const paths = 'id' in event ? (steps.get(event.id) ?? []) : this.workflow
      if (paths.length > 0) for (const [, payload] of payloads(event)) secretsAt(payload, paths, texts)
    }
    return this
  }
}

/** The event as it may be shown. */
export function redacted(event: TaskEvent, { workflow, steps, texts }: Redaction): TaskEvent {
  const paths = 'id' in event ? (steps.get(event.id) ?? []) : workflow
  const shown: TaskEvent = { ...event }
  for (const [name, payload] of payloads(event)) Object.assign(shown, { [name]: hideAt(payload, paths) })
  if (shown.type === 'planned') shown.plan = { ...shown.plan, steps: shown.plan.steps.map((step) => planned(step, shown.plan.policies)) } // biome-ignore format: one line
  return scrub(shown, texts)
}

/** The plan as it may be shown. */
export function redactPlan(view: PlanView, { steps, texts }: Redaction): PlanView {
  const hidden = view.steps.map((step) => ({ ...step, input: hideAt(step.input, steps.get(step.id) ?? []) }))
  return scrub({ ...view, steps: hidden }, texts)
}

export function hidesAnything({ workflow, steps }: Redaction): boolean {
  return workflow.length > 0 || steps.size > 0
}

function planned(step: PlannedStep, policies: readonly RecordedPolicy[]): PlannedStep {
  const paths = policies[step.policy ?? 0]?.secrets ?? []
  return step.input === undefined || paths.length === 0 ? step : { ...step, input: hideAt(step.input, paths) }
}

function mark(steps: Map<number, SecretPaths>, id: number, policy: RecordedPolicy | undefined): void {
  if (policy?.secrets && policy.secrets.length > 0) steps.set(id, policy.secrets)
}

function policyOf(
  { policies }: { policies: readonly RecordedPolicy[] },
  step: PlannedStep,
): RecordedPolicy | undefined {
  return step.action === null ? undefined : policies[step.policy ?? 0]
}

const names = ['input', 'output', 'payload', 'progress', 'checkpoint'] as const

function payloads(event: TaskEvent): [string, Json][] {
  const found = event as { [name in (typeof names)[number]]?: Json }
  return names.flatMap((name) => (found[name] === undefined ? [] : [[name, found[name]] as [string, Json]]))
}
