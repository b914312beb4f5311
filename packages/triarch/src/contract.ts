/**
 * What a client is made of, wherever it runs: the interface, how workflows are named, the errors. It needs nothing of Node, so it may
 * be bundled for browsers and workers.
 */

export type { AlertHandle } from './client/alert.ts'
export type { BreakerHandle } from './client/breaker.ts'
export type { TriarchClient } from './client/client.ts'
export type { KeyHandle } from './client/key.ts'
export type { RateLimitHandle } from './client/rate-limit.ts'
export type { ScheduleHandle } from './client/schedule.ts'
export type { SettingHandle } from './client/setting.ts'
export type { TaskOptions } from './client/submission.ts'
export type { TaskHandle } from './client/task.ts'
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
