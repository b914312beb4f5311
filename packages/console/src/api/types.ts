import type { components } from '../../../server/test/typed/api.d.ts'

type Schemas = components['schemas']

// The parts of the API's answers that several pages show.

/** A circuit breaker. */
export type Breaker = Schemas['Breaker']
/** A lock that is held or waited for. */
export type Lock = Schemas['Locks']['locks'][number]
/** A task as it was after one of its records. */
export type Moment = Schemas['Moment']
/** A node. */
export type Node = Schemas['Nodes']['nodes'][number]
/** A schedule. */
export type Schedule = Schemas['Schedule']
/** A setting. */
export type Setting = Schemas['Setting']
/** A step of a task. */
export type Step = Schemas['Steps']['steps'][number]
/** A task in a list. */
export type Task = Schemas['TaskInfo']
/** A workflow with its versions. */
export type Workflow = Schemas['Workflows']['workflows'][number]
