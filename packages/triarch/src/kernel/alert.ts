/**
 * What an alert is about: stable, for programs. docs/reference/alerts.md says what to do about each.
 * @example const urgent: readonly AlertCode[] = ['STEP_HELD', 'TASK_QUARANTINED']
 */
export type AlertCode =
  | 'TASK_PAUSED'
  | 'TASK_QUARANTINED'
  | 'TASK_UNATTENDED'
  | 'STEP_HELD'
  | 'SIGNAL_REFUSED'
  | 'STEP_UNATTENDED'
  | 'WORKFLOW_STALLED'
  | 'SCHEDULE_FAILING'
  | 'RETENTION_FAILING'
  | 'NODE_FENCED'
  | 'LOOP_BLOCKED'
  | 'SLOT_OVERRUN'
  | 'BREAKER_CHANGED'
  | 'LOST_TAIL'
  | 'SETTING_REFUSED'
  | 'SETTING_ROLLED_BACK'
  | 'SETTINGS_RECALLED'
  | 'ALERT_RAISED'
  | 'ALERT_ENDED'
  | 'ALERT_UNDELIVERED'

/**
 * Something an operator must see. What it is about is given as far as it is about that.
 * @example triarch.on('alert', ({ code, task, message }: Alert) => console.error(code, task, message))
 */
export interface Alert {
  /** What it is about: stable, for programs. */
  code: AlertCode
  /** The id of the task. */
  task?: string
  /** The workflow of the task. */
  workflow?: string
  /** The number of the step in its task. */
  step?: number
  /** The action of the step, as `agent.action`. */
  action?: string
  /** The name of the schedule. */
  schedule?: string
  /** The id of the node. */
  node?: string
  /** The name of the circuit breaker. */
  breaker?: string
  /** The name of the alert that is kept (`triarch.alert(name)`). */
  alert?: string
  /** Why, in a word: stable, as the `cause` of a pause. */
  cause: string
  /** All of it in a sentence, for people. */
  message: string
}

/** As the parts of the engine raise it: a step that is held, or a paused task, where nothing is said. */
export type RaisedAlert = Omit<Alert, 'code'> & { code?: AlertCode }
