/** What an alert is about: stable, for programs. docs/reference/alerts.md says what to do about each. */
export type AlertCode =
  | 'TASK_PAUSED'
  | 'TASK_QUARANTINED'
  | 'TASK_UNATTENDED'
  | 'STEP_HELD'
  | 'EVENT_REFUSED'
  | 'STEP_UNATTENDED'
  | 'WORKFLOW_STALLED'
  | 'SCHEDULE_FAILING'
  | 'RETENTION_FAILING'
  | 'NODE_FENCED'
  | 'LOOP_BLOCKED'
  | 'SLOT_OVERRUN'
  | 'LOST_TAIL'

/** Something an operator must see. What it is about is given as far as it is about that. */
export interface Alert {
  code: AlertCode
  task?: string
  workflow?: string
  step?: number
  action?: string
  schedule?: string
  node?: string
  /** Why, in a word. */
  reason: string
  message: string
}

/** As the parts of the engine raise it: a step that is held, or a paused task, where nothing is said. */
export type RaisedAlert = Omit<Alert, 'code'> & { code?: AlertCode }
