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
 * Something an operator must see. The fields that name its subject are set as far as they apply.
 * @example triarch.on('alert', ({ code, task, message }: Alert) => console.error(code, task, message))
 */
export interface Alert {
  /** The kind of the alert: stable, for programs. */
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
  /** The name of the stored alert (`triarch.alerts.get(name)`). */
  alert?: string
  /** The reason as one word: stable, like the `cause` of a pause. */
  cause: string
  /** The whole alert as a sentence, for people. */
  message: string
}

/** An alert as the parts of the engine raise it. Without a code it concerns a held step or a paused task. */
export type RaisedAlert = Omit<Alert, 'code'> & { code?: AlertCode }
