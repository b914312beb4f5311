/** What one metric is. */
export interface MetricDefinition {
  /** `counter`: only grows; `histogram`: how it is distributed; `gauge`: how it is now; `active`: goes up and down. */
  readonly kind: 'counter' | 'histogram' | 'gauge' | 'active'
  /** As OpenTelemetry writes units: `s`, `By`, `{task}`. */
  readonly unit: string
  readonly description: string
  /** Names of its attributes; each has a bounded number of values. */
  readonly attributes: readonly string[]
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[]
}

/** From a millisecond to half a minute: what a store or a service should answer in. */
const quick = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const
/** From 10 ms to a week: what a task may take. */
const slow = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400, 604_800] as const
const counts = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000] as const
const bytes = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216] as const

const counter = (unit: string, description: string, ...attributes: string[]) =>
  ({ kind: 'counter', unit, description, attributes }) as const
const gauge = (unit: string, description: string, ...attributes: string[]) =>
  ({ kind: 'gauge', unit, description, attributes }) as const
const histogram = (unit: string, buckets: readonly number[], description: string, ...attributes: string[]) =>
  ({ kind: 'histogram', unit, buckets, description, attributes }) as const

const known = {
  'triarch.task.submitted': counter('{task}', 'Tasks that were created.', 'workflow'),
  'triarch.task.claimed': counter('{task}', 'Tasks taken over from the store; orphaned: from an owner that died or lost them.', 'workflow', 'orphaned'), // biome-ignore format: a row
  'triarch.task.paused': counter('{task}', 'Tasks that came to wait for somebody to resume them.', 'workflow', 'cause'),
  'triarch.task.duration': histogram('s', slow, 'From the beginning of a task, or of its last run, to its end.', 'workflow', 'outcome'), // biome-ignore format: a row
  'triarch.task.replay.duration': histogram('s', quick, 'Reading the history of a task, and bringing its code to where it was.', 'workflow'), // biome-ignore format: a row
  'triarch.step.requested': counter('{step}', 'Steps that tasks asked for.', 'workflow', 'action'),
  'triarch.step.ended': counter('{step}', 'Steps that ended, or were undone.', 'workflow', 'action', 'outcome'),
  'triarch.step.duration': histogram('s', slow, 'From the request of a step to its end, over all attempts; of steps whose request the owner knows.', 'workflow', 'action', 'outcome'), // biome-ignore format: a row
  'triarch.step.retried': counter('{attempt}', 'Attempts that failed or were lost, and are followed by another.', 'action', 'error.type', 'lost'), // biome-ignore format: a row
  'triarch.attempt.duration': histogram('s', quick, 'Attempts in this process.', 'action', 'operation', 'outcome', 'error.type'), // biome-ignore format: a row
  'triarch.attempt.active': { kind: 'active', unit: '{attempt}', description: 'Attempts that run in this process now.', attributes: ['action'] }, // biome-ignore format: a row
  'triarch.cache.hit': counter('{hit}', 'Attempts that were answered by a cache; stale: while another answer is asked for.', 'action', 'from', 'stale'), // biome-ignore format: a row
  'triarch.cache.miss': counter('{miss}', 'Attempts of which no cache had the answer.', 'action'),
  'triarch.cache.failed': counter('{failure}', 'Times that a cache was down, slow or full, or held what cannot be read.', 'error.type'), // biome-ignore format: a row
  'triarch.cache.invalidated': counter('{time}', 'Times that this process declared answers wrong; by: key, action, tag.', 'by'), // biome-ignore format: a row
  'triarch.commit.duration': histogram('s', quick, 'Writing transitions to the store.', 'failed'),
  'triarch.commit.transitions': histogram('{transition}', counts, 'Transitions that were written together.'),
  'triarch.commit.size': histogram('By', bytes, 'Events that were written together.'),
  'triarch.commit.refused': counter('{transition}', 'Transitions that another owner was quicker than.'),
  'triarch.claim.duration': histogram('s', quick, 'Asking the store for tasks.'),
  'triarch.queue.duration': histogram('s', quick, 'Taking step requests from the work queues.'),
  'triarch.queue.wait.duration': histogram('s', slow, 'How long step requests waited in a work queue, until an attempt began.', 'action'), // biome-ignore format: a row
  'triarch.queue.full': counter('{task}', 'Submissions that found as many tasks of the workflow waiting as may: refused, held.', 'workflow', 'outcome'), // biome-ignore format: a row
  'triarch.step.parked': counter('{attempt}', 'Attempts that went into a work queue: no slot was free, or the agent is elsewhere.', 'action'), // biome-ignore format: a row
  'triarch.queue.taken': counter('{request}', 'Step requests taken from the work queues.'),
  'triarch.sweep.duration': histogram('s', quick, "The supervisor's look for what is late or dead."),
  'triarch.sweep.found': counter('{item}', 'What the supervisor found late or dead.', 'kind'),
  'triarch.takeover.duration': histogram(
    's',
    slow,
    'From when a node that died was last heard of, until what it had was free for others.',
  ),
  'triarch.leader.taken': counter('{time}', 'Times that the supervisor of this node began to lead.'),
  'triarch.leadership.taken': counter('{time}', 'Times that this process began to lead by a name.', 'name'),
  'triarch.leadership.ended': counter('{time}', 'Times that it led no more: returned, failed, stopped, lost.', 'name', 'end'), // biome-ignore format: a row
  'triarch.lease.renewed': counter('{time}', "Renewals of this node's lease; thread: while the event loop was busy.", 'thread'), // biome-ignore format: a row
  'triarch.lease.lost': counter('{time}', 'Times that this node was taken for dead.'),
  'triarch.node.died': counter('{node}', 'Nodes that this process found dead: as the leading supervisor, or as a process that started on the same machine.'), // biome-ignore format: a row
  'triarch.schedule.fired': counter('{time}', 'Schedules that were due.'),
  'triarch.breaker.moved': counter('{time}', 'Times that a circuit breaker came to a state, by this process.', 'agent', 'to'), // biome-ignore format: a row
  'triarch.agent.limit.moved': counter('{time}', 'Times that this process ran another number of attempts of the agent at a time, as its service answered.', 'agent'), // biome-ignore format: a row
  'triarch.rate.moved': counter('{time}', 'Times that a rate limit began to hold attempts of the agent back here, or that none waited any more: holding, free.', 'agent', 'to'), // biome-ignore format: a row
  'triarch.agent.rests': counter('{time}', 'Times that this process heard that the service of the agent asked to be left alone.', 'agent'), // biome-ignore format: a row
  'triarch.alert': counter('{alert}', 'What needs an operator.', 'code'),
  'triarch.error': counter('{error}', 'What failed inside of the engine.', 'error.type'),
  'triarch.store.tasks': gauge('{task}', 'Tasks in the store, whatever their state; counted to 10,000.'),
  'triarch.store.ready': gauge('{task}', 'Tasks that wait for a scheduler; counted to 10,000.'),
  'triarch.store.inbox': gauge('{message}', 'Messages that no task has taken yet; counted to 10,000.'),
  'triarch.store.paused': gauge('{task}', 'Paused tasks that wait for somebody, besides those that an operator paused; counted to 1,000.', 'workflow', 'cause'), // biome-ignore format: a row
  'triarch.store.paused.age': gauge('s', 'How long the longest of them has been paused.', 'workflow', 'cause'),
  'triarch.store.readable': gauge('1', 'Whether the last look at the store was answered: 1 or 0.'),
  'triarch.store.pool.connections': gauge('{connection}', 'Connections to the store that this process may have, by what they are for.', 'pool'), // biome-ignore format: a row
  'triarch.store.pool.busy': gauge('{connection}', 'Connections to the store that are at work now.', 'pool'),
  'triarch.store.pool.waiting': gauge('{call}', 'Calls that wait for a connection to the store.', 'pool'),
  'triarch.agent.backlog': gauge('{request}', 'Requests that wait for the agent, and nobody has taken.', 'agent'),
  'triarch.agent.backlog.age': gauge('s', 'How long the oldest of them has waited.', 'agent'),
  'triarch.agent.slots': gauge('{slot}', 'Attempts that all living nodes run of the agent at a time.', 'agent'),
  'triarch.agent.nodes': gauge('{node}', 'Living nodes that host the agent.', 'agent'),
  'triarch.agent.demand': gauge('{process}', 'Processes that what waits for the agent, and runs, asks for.', 'agent'),
  'triarch.scheduler.backlog': gauge('{task}', 'Tasks that wait for a scheduler which runs this version.', 'workflow', 'version'), // biome-ignore format: a row
  'triarch.scheduler.backlog.age': gauge('s', 'How long the oldest of them has waited.', 'workflow', 'version'),
  'triarch.scheduler.demand': gauge('{process}', 'Processes that those tasks, and those that are owned, ask for.', 'workflow', 'version'), // biome-ignore format: a row
  'triarch.breaker.state': gauge('1', 'The state of a circuit breaker: 1 where it is in it; idle: open, and no step waits to probe with. Keys of one agent are counted.', 'agent', 'state'), // biome-ignore format: a row
  'triarch.node.living': gauge('{node}', 'Nodes that live, by their role.', 'role'),
  'triarch.node.lease.remaining': gauge('s', 'The shortest time that a living node is still taken for alive.'),
  'triarch.eventloop.delay': gauge(
    's',
    "The longest delay of this process's event loop in the last minute, or since the last look if that is longer ago.",
  ),
} as const satisfies Record<string, MetricDefinition>

/**
 * The name of a metric.
 * @example const name: MetricName = 'triarch.task.duration'
 */
export type MetricName = keyof typeof known

/** All metrics, by their names. */
export const metrics: Readonly<Record<MetricName, MetricDefinition>> = known

const units: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes', '1': '' }

/** What Prometheus calls it: as collectors of OpenTelemetry would, too. */
export function prometheusName(name: MetricName): string {
  const { kind, unit } = metrics[name]
  return `${name.replaceAll('.', '_')}${units[unit] ?? ''}${kind === 'counter' ? '_total' : ''}`
}
