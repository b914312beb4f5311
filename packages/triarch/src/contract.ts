/**
 * What a client is made of, wherever it runs: the interface, how workflows are named, the errors. It needs nothing of Node, so it may
 * be bundled for browsers and workers.
 */

export type { AlertCollection, AlertHandle } from './client/alert.ts'
export type { AuditCollection } from './client/audit.ts'
export type { BreakerCollection, BreakerHandle } from './client/breaker.ts'
export type { CacheCollection } from './client/caches.ts'
export type { TriarchClient } from './client/client.ts'
export type { HealthCollection } from './client/health.ts'
export type { AgentCollection, LockCollection, NodeCollection, WorkflowCollection } from './client/inventory.ts'
export type { KeyCollection, KeyHandle } from './client/key.ts'
export type { LeaderCollection } from './client/leaders.ts'
export type { RateLimitCollection, RateLimitHandle } from './client/rate-limit.ts'
export type { ScheduleCollection, ScheduleHandle } from './client/schedule.ts'
export type { SettingCollection, SettingHandle } from './client/setting.ts'
export type { StatisticsCollection } from './client/statistics.ts'
export type { TaskOptions } from './client/submission.ts'
export type { TaskHandle } from './client/task.ts'
export type { TaskCollection } from './client/tasks.ts'
export { type WorkflowRef, workflowRef } from './definition/workflow-ref.ts'
export { type ErrorCode, errorCatalogue, isErrorCode } from './error/catalogue.ts'
export { isTriarchError, TriarchError, type TriarchErrorOptions } from './error/error.ts'
export {
  TaskCancelledError,
  TaskCompensatedError,
  TaskError,
  TaskExpiredError,
  TaskFailedError,
  taskError,
} from './error/task-error.ts'
export { type Duration, milliseconds } from './value/duration.ts'
export {
  type Invalidated,
  type Invalidation,
  invalidationOf,
  type StatedInvalidation,
} from './value/invalidation.ts'
