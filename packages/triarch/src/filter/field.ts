import { moves, type TaskOutcome, type TaskStatus } from '../kernel/status.ts'
import type { PauseCause } from '../kernel/task/pause.ts'

/**
 * The type of a field's values: one of a few words, any text, an integer, a span of time, an instant.
 * @example const kinds: readonly FilterKind[] = filterFields.map(({ kind }) => kind)
 */
export type FilterKind = 'choice' | 'text' | 'number' | 'duration' | 'instant'

/**
 * The tests of a field: `is` (`field:value`), `prefix` (`field:begins*`), `any` (`field:*`), `range` (`field:>value`, `field:from..to`),
 * `contains` (`field~text`).
 * @example const searchable = filterFields.filter(({ tests }) => tests.includes('contains'))
 */
export type FilterTestName = 'is' | 'prefix' | 'any' | 'range' | 'contains'

/**
 * A field of the filter language, as described to editors with completion.
 * @example for (const { name, about, example } of filterFields) console.log(name, about, example)
 */
export interface FilterField {
  /** The name before the colon; `tag.` is followed by the name of a tag. */
  name: string
  /** The type of its values. */
  kind: FilterKind
  /** The tests that it supports. */
  tests: readonly FilterTestName[]
  /** All possible values, if there are only a few. */
  values?: readonly string[]
  /** A short description. */
  about: string
  /** A filter that uses it. */
  example: string
}

const statuses = Object.keys(moves.task) as TaskStatus[]
const outcomes: Readonly<Record<TaskOutcome, true>> = {
  pending: true,
  success: true,
  warning: true,
  error: true,
  cancelled: true,
  compensated: true,
}
const causes: Readonly<Record<PauseCause, true>> = {
  operator: true,
  lock: true,
  step: true,
  undo: true,
  'unknown-outcome': true,
  mismatch: true,
  error: true,
  quarantine: true,
}
const truth = ['true', 'false']

/**
 * Every field of the filter language.
 * @example const names = filterFields.map(({ name }) => name)
 */
export const filterFields: readonly FilterField[] = [
  {
    name: 'status',
    kind: 'choice',
    tests: ['is'],
    values: statuses,
    about: 'where it is between submission and end',
    example: 'status:running,paused',
  },
  {
    name: 'outcome',
    kind: 'choice',
    tests: ['is'],
    values: Object.keys(outcomes),
    about: 'how it ended',
    example: 'outcome:error',
  },
  {
    name: 'workflow',
    kind: 'text',
    tests: ['is', 'prefix'],
    about: 'the name of its workflow',
    example: 'workflow:fulfil-*',
  },
  {
    name: 'version',
    kind: 'text',
    tests: ['is', 'prefix'],
    about: 'the version it started with',
    example: 'version:2',
  },
  { name: 'id', kind: 'text', tests: ['is', 'prefix'], about: 'its id', example: 'id:order-7*' },
  {
    name: 'parent',
    kind: 'text',
    tests: ['is', 'prefix', 'any'],
    about: 'the task that started it',
    example: '-parent:*',
  },
  {
    name: 'tag.',
    kind: 'text',
    tests: ['is', 'prefix', 'any'],
    about: 'a tag of its submission',
    example: 'tag.customer:42',
  },
  {
    name: 'node',
    kind: 'text',
    tests: ['is', 'prefix', 'any'],
    about: 'the node that has it',
    example: 'node:*',
  },
  {
    name: 'age',
    kind: 'duration',
    tests: ['range'],
    about: 'how long ago it was submitted',
    example: 'age:>2h',
  },
  {
    name: 'idle',
    kind: 'duration',
    tests: ['range'],
    about: 'how long ago its row was last written',
    example: 'idle:>15m',
  },
  {
    name: 'submitted',
    kind: 'instant',
    tests: ['is', 'range'],
    about: 'when it was submitted',
    example: 'submitted:2026-11-20..2026-11-22',
  },
  {
    name: 'updated',
    kind: 'instant',
    tests: ['is', 'range'],
    about: 'when its row was last written',
    example: 'updated:>=2026-11-22T09:30Z',
  },
  {
    name: 'priority',
    kind: 'number',
    tests: ['is', 'range'],
    about: 'higher comes first',
    example: 'priority:>0',
  },
  {
    name: 'failures',
    kind: 'number',
    tests: ['is', 'range'],
    about: 'failed attempts of all its steps',
    example: 'failures:>=3',
  },
  {
    name: 'error',
    kind: 'text',
    tests: ['is', 'prefix', 'any', 'contains'],
    about: 'why it stopped or is paused: a code after the colon, words of a message after the tilde',
    example: 'error~"card declined"',
  },
  {
    name: 'step',
    kind: 'text',
    tests: ['is', 'prefix'],
    about: 'the step that it is paused at or failed at',
    example: 'step:charge',
  },
  {
    name: 'cause',
    kind: 'choice',
    tests: ['is', 'any'],
    values: Object.keys(causes),
    about: 'why it is paused',
    example: 'cause:operator',
  },
  {
    name: 'ready',
    kind: 'choice',
    tests: ['is'],
    values: truth,
    about: 'whether it waits for a scheduler',
    example: 'ready:true age:>5m',
  },
  {
    name: 'quarantined',
    kind: 'choice',
    tests: ['is'],
    values: truth,
    about: 'whether it was quarantined',
    example: 'quarantined:true',
  },
  {
    name: 'sort',
    kind: 'choice',
    tests: ['is'],
    values: ['newest', 'oldest'],
    about: 'in which order, by submission',
    example: 'sort:oldest',
  },
]

/** Hints to the right field for names that are not fields. */
export const elsewhere: Readonly<Record<string, string>> = {
  action: 'step:NAME finds tasks that are paused or failed at a step',
  batch: 'the tasks of a batch are children: parent:ID',
  code: 'the code of an error is error:CODE',
  created: 'that is submitted:',
  input: 'inputs are not searched: give what tasks are found by as tags at the submission',
  locked: 'the node that has a task is node:',
  message: 'words of an error are error~"…"',
  metadata: 'metadata is not searched: give what tasks are found by as tags at the submission',
  name: 'that is workflow: or step:',
  order: 'that is sort:newest or sort:oldest',
  output: 'outputs are not searched: give what tasks are found by as tags at the submission',
  owner: 'the node that has a task is node:',
  pause: 'why a task is paused is cause:',
  paused: 'paused tasks are status:paused, and why is cause:',
  reason: 'why a task is paused is cause:; what people gave as the reason is not searched',
  result: 'how tasks ended is outcome:',
  root: 'the ids of children begin with that of the task above them: id:ID*',
  schedule: 'tasks of a schedule have a tag: tag.schedule:NAME',
  state: 'that is status:',
  stopped: 'stopped tasks are status:stopped, and when is updated: or idle:',
  tag: 'a tag is asked for by its name: tag.NAME:value',
  tags: 'a tag is asked for by its name: tag.NAME:value',
  text: 'words of an error are error~"…"',
  type: 'that is workflow:',
}
