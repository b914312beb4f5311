/** Triarch for tests: an engine on an in-memory store and virtual time, and one whose processes crash at every place. */

export { type CrashOptions, crashEverywhere } from './crash.ts'
export { TestEngine, type TestOptions, testEngine } from './engine.ts'
export type { AttemptFault, CrashFault, StoreFault } from './fault.ts'
export { memory } from './memory.ts'
export { type ReplayReport, replayHistory } from './replay.ts'
export { type CrashFailure, type CrashReport, type CrashRun, CrashTestError } from './report.ts'
export type { AttemptCall } from './sabotage.ts'
export type { Drive } from './trial.ts'
export { VirtualEnvironment, type VirtualOptions } from './virtual.ts'
