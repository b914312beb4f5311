/** Triarch for tests: an engine on an in-memory store and virtual time. */
export { VirtualEnvironment, type VirtualOptions } from '../environment/virtual.ts'
export { TestEngine, type TestOptions, testEngine } from './engine.ts'
export { memory } from './memory.ts'
