import type { ErrorRecord, Json, Triarch } from 'triarch'

/** A task as it is shown, in words of this room: they stay when those of the API change. */
export interface View {
  id: string
  parent?: string
  workflow: string
  status: string
  result: string
  output?: Json
  /** The code of its error, or else the name, and what it says. */
  error?: string
  pause?: string
  progress?: Json
  steps: StepView[]
}

interface StepView {
  id: number
  name: string
  status: string
  attempts: number
  output?: Json
  error?: string
  progress: number
}

export async function viewOf(triarch: Triarch, id: string): Promise<View> {
  const task = triarch.tasks.get(id)
  const { workflow, status, outcome: result, output, error, pause, progress, parent } = await task.status()
  const steps = await task.steps()
  return {
    id,
    ...(parent !== undefined && { parent }),
    workflow,
    status,
    result,
    ...(output !== undefined && { output }),
    ...(error && { error: said(error) }),
    ...(pause && { pause: pause.cause }),
    ...(progress !== undefined && { progress }),
    steps: steps.map((step) => ({
      id: step.id,
      name: step.name,
      status: step.status,
      attempts: step.attempts,
      ...(step.output !== undefined && { output: step.output }),
      ...(step.error && { error: said(step.error) }),
      progress: step.progress,
    })),
  }
}

function said(error: ErrorRecord): string {
  return `${codeOf(error)}: ${error.message}`
}

export function codeOf({ code, name }: ErrorRecord): string {
  return code ?? name
}
