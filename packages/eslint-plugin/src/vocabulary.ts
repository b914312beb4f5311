/**
 * What Triarch calls things, as far as the rules must know it: all names are here and nowhere else. `test/vocabulary.test.ts`
 * compares them with the types of `triarch`.
 */
export const vocabulary = {
  module: 'triarch',
  /** Defines a workflow: its code is the `run` or the `plan` of the second argument, which is given the context second. */
  workflow: 'workflow',
  /** The method of an agent that defines an action, whose `plan` is given a context second. */
  action: 'action',
  run: 'run',
  plan: 'plan',
  /** Types of a parameter that make a function workflow code, wherever it is called. */
  taskTypes: ['TaskContext'],
  planTypes: ['PlanContext', 'ActionPlanContext'],
  /** Methods of a task that give a promise. */
  promised: ['run', 'transaction', 'sleep', 'waitForSignal', 'call', 'start', 'lock', 'batch', 'continueAsNew'],
  /** Methods of a task whose function is a step, after its name. */
  named: ['run', 'transaction', 'batch'],
  /** Methods of a plan that take a block, and must have its answer at once. */
  blocks: ['sequence', 'concurrence', 'lock'],
  /** Methods of a plan that give what was planned, and its part that stands for what it will give. */
  planned: ['step', 'self'],
  output: 'output',
  now: 'now',
  random: 'random',
  uuid: 'uuid',
  sleep: 'sleep',
  start: 'start',
} as const
