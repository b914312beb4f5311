/** Triarch: durable tasks over unreliable services. */

export type { AlertOptions, AlertRuleName, AlertRuleOptions } from './alert/options.ts'
export type { QuietHours } from './alert/quiet.ts'
export type { AlertGroup, AlertNotification, AlertSink, AlertSinkTrial } from './alert/sink.ts'
export type { KeyValueCache } from './cache/shared-cache.ts'
export type { Acting } from './client/act.ts'
export type {
  AlertActOptions,
  AlertCollection,
  AlertHandle,
  AlertInfo,
  AlertPage,
  AlertsOptions,
  AlertTestOptions,
  AlertWord,
} from './client/alert.ts'
export type { AuditCollection, AuditOptions, AuditPage, AuditRecord, RefusedAct } from './client/audit.ts'
export type {
  BreakerCollection,
  BreakerControlOptions,
  BreakerHandle,
  BreakerOpenOptions,
  BreakerPage,
  BreakersOptions,
} from './client/breaker.ts'
export type { CacheCollection } from './client/caches.ts'
export type { ChildrenOptions } from './client/children.ts'
export type { TriarchClient } from './client/client.ts'
export type { HealthCollection } from './client/health.ts'
export type { ImportOptions } from './client/import.ts'
export type { AgentCollection, LockCollection, NodeCollection, WorkflowCollection } from './client/inventory.ts'
export type {
  IssuedKey,
  KeyActOptions,
  KeyCollection,
  KeyCreateOptions,
  KeyHandle,
  KeyInfo,
  KeyPage,
  KeyRotateOptions,
  KeysOptions,
  KeyWord,
} from './client/key.ts'
export type { Keyring, VerifiedKey } from './client/keyring.ts'
export type { EngineLeaders, LeaderCollection } from './client/leaders.ts'
export type { EngineEvents } from './client/listeners.ts'
export type { LogOptions, LogPage } from './client/log.ts'
export type { SubmitResult, TaskEntry } from './client/many.ts'
export type { TaskCount } from './client/matching.ts'
export { type MigrateOptions, migrate } from './client/migrate.ts'
export type { OperationAction, OperationOrder, OperationReport } from './client/operation.ts'
export { type OperationInfo, operationInfo } from './client/operation-info.ts'
export type { TaskPage } from './client/page.ts'
export type {
  RateLimitCollection,
  RateLimitControlOptions,
  RateLimitForceOptions,
  RateLimitHandle,
  RateLimitLiftOptions,
  RateLimitPage,
  RateLimitsOptions,
} from './client/rate-limit.ts'
export type { ResumeOptions } from './client/resume.ts'
export type {
  BackfillOptions,
  ScheduleCollection,
  ScheduleHandle,
  ScheduleInfo,
  SchedulePage,
  ScheduleRunOptions,
  SchedulesOptions,
} from './client/schedule.ts'
export type { RotatedSecret, SecretRotateOptions } from './client/secret.ts'
export type { Serving } from './client/serving.ts'
export type {
  SettingChangeOptions,
  SettingCollection,
  SettingHandle,
  SettingHistory,
  SettingHistoryOptions,
  SettingPage,
  SettingSetOptions,
  SettingStageOptions,
  SettingsOptions,
} from './client/setting.ts'
export { stopOnSignals } from './client/signals.ts'
export type { StatisticsCollection } from './client/statistics.ts'
export type { Predecessor, SubmitOptions, TaskOptions } from './client/submission.ts'
export type { TaskHandle, WaitOptions } from './client/task.ts'
export type { TaskCollection } from './client/tasks.ts'
export { Triarch } from './client/triarch.ts'
export type { CountsChange, ListChange, WatchOptions } from './client/watcher.ts'
export { type AgentOptions, agent } from './definition/agent.ts'
export type { ActionPolicy, AgentPolicy, WorkflowPolicy } from './definition/agent-policy.ts'
export type { BatchOptions, BatchResult, Items, PageRequest } from './definition/batch.ts'
export type { CircuitBreakerOptions } from './definition/breaker.ts'
export type { CacheOptions } from './definition/cache.ts'
export type {
  CheckedSignalOptions,
  ChildOptions,
  Isolation,
  LocalStepOptions,
  Lock,
  LockOptions,
  PlannedStepOptions,
  StepOptions,
  StepRetryOptions,
  TransactionOptions,
  UndoOptions,
  WaitForSignalOptions,
} from './definition/call.ts'
export type { ConcurrencyOptions } from './definition/concurrency.ts'
export type { ControlOptions } from './definition/control.ts'
export type {
  Action,
  ActionDefinition,
  ActionPlanContext,
  Agent,
  BatchDefinition,
  LocalBatchDefinition,
  OutputOf,
  PlanContext,
  PlanningAction,
  PurePlanDefinition,
  TaskContext,
  TaskHook,
  ThreadActionDefinition,
  TypedActionDefinition,
  Verified,
  WaitingTasks,
  WhenOpen,
  Workflow,
  WorkflowDefinition,
} from './definition/definition.ts'
export type { ExclusiveOptions } from './definition/exclusive.ts'
export type { FairnessOptions, FairnessWeights, FairTask } from './definition/fairness.ts'
export type { HookState, TaskChange } from './definition/hook.ts'
export type { LogFields, LogWriter } from './definition/log.ts'
export {
  type Middleware,
  type MiddlewareHooks,
  middleware,
  type Next,
  type PlanCall,
  type PresentCall,
  type StepCall,
  type SubmitCall,
} from './definition/middleware.ts'
export type { PolicyOptions, RescueOption } from './definition/policy.ts'
export { type PollingOptions, polling } from './definition/polling.ts'
export type { PoolOptions, QueueOptions } from './definition/queue.ts'
export type { RateLimitOptions } from './definition/rate.ts'
export type { Planned } from './definition/reference.ts'
export { type Reference, type Resolved, ref, type Templated } from './definition/reference.ts'
export type { EndOutcome, RetentionOption } from './definition/retention.ts'
export type { BackoffOptions, RetryOptions } from './definition/retry.ts'
export type { Overlap, ScheduleOptions } from './definition/schedule.ts'
export {
  type Setting,
  type SettingLayer,
  type SettingOrigin,
  type SettingPolicy,
  setting,
} from './definition/setting.ts'
export type { NoSignals, SignalName, SignalPayload, SignalSchemas } from './definition/signal.ts'
export type { PresentedStep, StepContext, StepSignal, SuspendOptions, Verification } from './definition/step.ts'
export type { ThreadInput, ThreadModule, ThreadOutput } from './definition/thread.ts'
export {
  type PlannedWorkflowDefinition,
  type Returning,
  type TypedWorkflowDefinition,
  workflow,
} from './definition/workflow.ts'
export { type WorkflowRef, workflowRef } from './definition/workflow-ref.ts'
export type { Environment } from './environment/environment.ts'
export type { Address, Channel, ChannelEar, ChannelKeys, Network, NetworkListener } from './environment/network.ts'
export { type ErrorCode, errorCatalogue } from './error/catalogue.ts'
export { isTriarchError, TriarchError, type TriarchErrorOptions } from './error/error.ts'
export { PermanentError, TransientError, type TransientErrorOptions, UnknownOutcomeError } from './error/step-error.ts'
export {
  ChildFailedError,
  SignalTimeoutError,
  StepFailedError,
  TaskCancelledError,
  TaskCompensatedError,
  TaskError,
  TaskExpiredError,
  TaskFailedError,
} from './error/task-error.ts'
export { type FilterField, type FilterKind, type FilterTestName, filterFields } from './filter/field.ts'
export type { Filter, FilterTerm, FilterTest, FilterText } from './filter/filter.ts'
export { formatFilter, parseFilter } from './filter/grammar.ts'
export type {
  EndpointInfo,
  EndpointState,
  KeptEndpoint,
  ProbePage,
  ProbeProblem,
  ProbeProblemCode,
  ProbeResult,
  ProbesOptions,
} from './health/endpoint.ts'
export type { HealthAnswer, HealthCheck, HealthFinding, HealthStatus, HealthValues } from './health/finding.ts'
export type { HealthCheckReport, HealthReport, HealthRequest } from './health/health.ts'
export type { HealthCode, HealthDetails } from './health/message.ts'
export type { HealthCheckOptions, HealthOptions } from './health/options.ts'
export type { Alert, AlertCode } from './kernel/alert.ts'
export type { BatchCounts } from './kernel/batch/batch.ts'
export type { ErrorRecord, Json } from './kernel/json.ts'
export type { IfHeld } from './kernel/lock/lock.ts'
export type { PlannedState } from './kernel/plan/plan.ts'
export type { StepStatus, TaskOutcome, TaskStatus } from './kernel/status.ts'
export type { RescueStrategy, Semantics } from './kernel/step/policy.ts'
export type { CacheMark, Operation } from './kernel/step/step.ts'
export type { ParentPolicy } from './kernel/task/order.ts'
export type { PauseCause } from './kernel/task/pause.ts'
export type { AuditKeeping } from './node/audit.ts'
export type { AnswerCacheOptions } from './node/cache.ts'
export type { LeadOptions } from './node/candidate.ts'
export type { DirectOptions } from './node/direct.ts'
export type { Limits, Role, StatisticsOptions, TriarchOptions } from './node/options.ts'
export type { Leadership, LeaderTransactionOptions } from './node/term.ts'
export { type PlanView, type PlanViewStep, preview } from './planning/preview.ts'
export type { AlertNews, AlertPhase, AlertSeverity } from './policy/alert.ts'
export type { BreakerPhase, BreakerRule } from './policy/breaker.ts'
export type { KeyStatus } from './policy/key.ts'
export type { SettingGuard } from './policy/setting.ts'
export type { EnginePolicy, SchedulesPolicy } from './setting/own.ts'
export { type Codec, type Encoded, readOnly } from './store/codec/codec.ts'
export { type CompressOptions, compress } from './store/codec/compress.ts'
export { type EncryptionKey, type EncryptOptions, encrypt } from './store/codec/encrypt.ts'
export type { StoreFactory } from './store/factory.ts'
export type { MigrationReport, SweepReport } from './store/port.ts'
export type { SettingMove } from './store/version.ts'
export {
  type AttemptTelemetry,
  type StepTelemetry,
  type TaskTelemetry,
  type TelemetryEvents,
  type TelemetryListeners,
  type TelemetryName,
  type TelemetryOrigin,
  telemetryNames,
} from './telemetry/catalogue.ts'
export type { Logger } from './telemetry/logger.ts'
export type { Duration } from './value/duration.ts'
export type { Invalidation } from './value/invalidation.ts'
export { type JsonBounds, type ReadJson, readJson } from './value/json.ts'
export type { GivenInput, Jsonified, MissingInput, NeedsInputSchema, WithoutInput } from './value/jsonified.ts'
export type { LogLevel } from './value/level.ts'
export type { Recurrence, RecurrenceOptions } from './value/recurrence.ts'
export { type Right, rights } from './value/right.ts'
export type { InferInput, InferOutput, SchemaIssue, SchemaResult, StandardSchema } from './value/schema.ts'
export type { BreakerChange, BreakerInfo, BreakerWave } from './view/breaker.ts'
export type {
  AgentDemand,
  Capacity,
  Demand,
  DemandOptions,
  SchedulerDemand,
  WorkDemand,
} from './view/demand.ts'
export type {
  CachedAt,
  HistoryAttempt,
  HistoryEntry,
  HistoryEvent,
  HistoryPolicy,
  HistoryRemark,
} from './view/event.ts'
export type { ExportedRecord, ExportOptions, RecordRange, TaskExport } from './view/export.ts'
export type {
  Figures,
  FiguresColumn,
  FiguresQuery,
  FiguresRow,
  RecountOptions,
  RecountProgress,
} from './view/figures.ts'
export type {
  AgentInfo,
  AgentNode,
  AgentPage,
  AgentQueue,
  LockInfo,
  LockPage,
  NamedPage,
  WorkflowInfo,
  WorkflowPage,
  WorkflowVersionInfo,
} from './view/inventory.ts'
export type { LeaderInfo, LeaderPage } from './view/leader.ts'
export type { LogLine } from './view/log.ts'
export type { TaskMoment } from './view/moment.ts'
export type { NodeInfo } from './view/node.ts'
export type { SettingPause } from './view/pause.ts'
export type { ListOptions } from './view/query.ts'
export type { ForcedRate, RateLimitChange, RateLimitInfo } from './view/rate-limit.ts'
export type { Explanation, Reason, ReasonCode } from './view/reason.ts'
export type {
  SettingChange,
  SettingInfo,
  SettingNode,
  SettingTrialInfo,
  SettingVersionInfo,
} from './view/setting.ts'
export type { Statistics } from './view/statistics.ts'
export type { Broken, Omitted, StepInfo, TaskDetails, TaskInfo } from './view/status.ts'
export type { StepRange, StepView } from './view/steps.ts'
export type { TaskWait } from './view/wait.ts'
export { connectAgents } from './wire/connect.ts'
export type { ConnectAgentsOptions, ConnectedAgents } from './wire/connection.ts'
export type {
  AgentMessage,
  AgentRequest,
  AgentResponse,
  NumberedMessage,
  OfferedAgent,
  RemoteAttempt,
  RemoteLine,
  RemoteOutcome,
  RemotePage,
  ServerMessage,
} from './wire/message.ts'
export type { RemoteAgents } from './wire/sessions.ts'
