import { type AlertWriting, alertActs } from './alert.ts'
import { withAct } from './audit.ts'
import { CREATE_BREAKER, DROP_BREAKER, UPDATE_BREAKER } from './breaker.ts'
import { INVALIDATE_ACT } from './cache.ts'
import { IMPORT_TASK_ACT } from './import.ts'
import { type KeyWriting, keyActs } from './key.ts'
import { LIFT } from './quarantine.ts'
import { DROP_SCHEDULE } from './schedule.ts'
import { secretActs } from './secret.ts'
import { CREATE_SETTING_ACT, UPDATE_SETTING_ACT } from './setting.ts'
import { RECOUNT } from './statistics.ts'

/** Names of statements that also exist in a form that writes an audit entry. */
export type Act =
  | AlertWriting
  | KeyWriting
  | 'createBreaker'
  | 'updateBreaker'
  | 'dropBreaker'
  | 'createSetting'
  | 'updateSetting'
  | 'dropSchedule'
  | 'releaseQuarantine'
  | 'importTask'
  | 'invalidate'
  | 'recount'
  | 'writeSecret'

/** The statements in that form. */
export const acts: Readonly<Record<`${Act}Act`, string>> = {
  ...alertActs,
  ...keyActs,
  ...secretActs,
  createBreakerAct: withAct(CREATE_BREAKER, 3),
  updateBreakerAct: withAct(UPDATE_BREAKER, 4),
  dropBreakerAct: withAct(DROP_BREAKER, 3),
  createSettingAct: CREATE_SETTING_ACT,
  updateSettingAct: UPDATE_SETTING_ACT,
  dropScheduleAct: withAct(DROP_SCHEDULE, 1),
  importTaskAct: IMPORT_TASK_ACT,
  releaseQuarantineAct: withAct(LIFT, 1),
  invalidateAct: INVALIDATE_ACT,
  recountAct: withAct(RECOUNT, 1),
}
