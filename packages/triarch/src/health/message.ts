/**
 * The findings of the engine's checks by stable code, each with the details of its message, from which it can be translated. `names`: the
 * first names of a list; `more`: the number of others.
 * @example const waits = ({ task, seconds }: HealthDetails['task-waits']) => `${task} wartet seit ${seconds} s`
 */
export interface HealthDetails {
  /** The process is stopping. */
  stopping: null
  /** The process plays no role. */
  'no-role': null
  /** The store does not know the node. */
  'node-unknown': { node: string }
  /** The lease of the node ended `ms` ago. */
  'lease-ended': { node: string; ms: number }
  /** The event loop of this process was blocked for `ms`, `seconds` ago. */
  'loop-blocked': { ms: number; seconds: number }
  /** No supervisor leads. */
  'no-leader': null
  /** The leader does not sweep: `dead` dead nodes are registered. */
  'no-sweep': { dead: number }
  /** There is no living scheduler, so no task goes on. */
  'no-scheduler': null
  /** No living node plays these roles. */
  'roles-missing': { roles: string }
  /** The leases of these nodes ended. */
  'leases-ended': { names: string; more: number }
  /** A task should have been woken `seconds` ago. */
  'timers-late': { seconds: number }
  /** The task has waited for a scheduler for `seconds`. */
  'task-waits': { task: string; workflow: string; version: string; seconds: number }
  /** Requests wait for these agents, the oldest for `seconds`. */
  'requests-wait': { names: string; more: number; seconds: number }
  /** Requests wait for these agents, which no living node runs. */
  'nobody-hosts': { names: string; more: number }
  /** These circuit breakers are open. */
  'breakers-open': { names: string; more: number }
  /** These schedules were due and did not start anything. */
  'schedules-late': { names: string; more: number }
  /** Nodes run other versions of these settings than they should. */
  'settings-drift': { names: string; more: number }
  /** A read took longer than the limit `most`. */
  'read-slow': { ms: number; most: number }
  /** A commit took longer than the limit `most`. */
  'commit-slow': { ms: number; most: number }
  /** The machine's clock is ahead of the store's. */
  'clock-ahead': { ms: number }
  /** The machine's clock is behind the store's. */
  'clock-behind': { ms: number }
  /** The disk of the store cannot be seen from here. */
  'disk-unseen': null
  /** The disk of the store has little free space. */
  'disk-low': { mebibytes: number; path: string }
  /** There is nothing to check. */
  none: null
  /** Calls wait for connections; `pool`: the one with the most. */
  'calls-wait': { waiting: number; pool: string }
  /** The standby cannot be reached; the primary answers instead. */
  'replica-silent': null
  /** The standby lags behind the primary. */
  'replica-behind': { ms: number }
  /** API keys cannot be read, and none is accepted any more. */
  'keys-lost': null
  /** API keys cannot be read; known keys are accepted for another `seconds`. */
  'keys-unread': { seconds: number }
  /** Endpoints are down; `said`: the problems of their last probes. */
  'endpoints-down': { down: number; all: number; said: string }
  /** These endpoints are not probed any more. */
  'endpoints-unseen': { names: string; more: number; late: number; all: number }
  /** The check returned an invalid result. */
  'no-finding': null
  /** The check returned a result that cannot be read. */
  'unreadable-finding': null
  /** The check has not answered an earlier call for `ms`. */
  silent: { ms: number }
  /** The check did not answer within its timeout. */
  'too-slow': { ms: number }
}

/**
 * The code of a message.
 * @example const isAlone = (code?: HealthCode) => code === 'no-leader' || code === 'no-scheduler'
 */
export type HealthCode = keyof HealthDetails

/** The messages in English. */
export const messages: { readonly [C in HealthCode]: (details: HealthDetails[C]) => string } = {
  stopping: () => 'this process is stopping',
  'no-role': () => 'this process plays no role',
  'node-unknown': ({ node }) => `the store does not know node ${node}`,
  'lease-ended': ({ node, ms }) => `the lease of node ${node} ended ${ms} ms ago`,
  'loop-blocked': ({ ms, seconds }) => `the event loop of this process was blocked for ${ms} ms, ${seconds} s ago`,
  'no-leader': () => 'no supervisor leads',
  'no-sweep': ({ dead }) => `the leader does not sweep: ${dead} dead nodes are registered`,
  'no-scheduler': () => 'no scheduler lives: no task goes on',
  'roles-missing': ({ roles }) => `no node has the role ${roles}`,
  'leases-ended': (of) => `the leases ended of ${list(of)}`,
  'timers-late': ({ seconds }) => `a task should have gone on ${seconds} s ago`,
  'task-waits': ({ task, workflow, version, seconds }) =>
    `task "${task}" of ${workflow}@${version} waits for a scheduler for ${seconds} s`,
  'requests-wait': ({ seconds, ...of }) => `requests wait for ${seconds} s, for ${list(of)}`,
  'nobody-hosts': (of) => `nobody hosts ${list(of)}, and requests wait`,
  'breakers-open': (of) => `open: ${list(of)}`,
  'schedules-late': (of) => `schedules were due and did not start anything: ${list(of)}`,
  'settings-drift': (of) => `nodes run other versions of settings than they should: ${list(of)}`,
  'read-slow': ({ ms, most }) => `a read took ${ms} ms, more than ${most}`,
  'commit-slow': ({ ms, most }) => `a commit took ${ms} ms, more than ${most}`,
  'clock-ahead': ({ ms }) => `this machine's clock is ${ms} ms ahead of the store's`,
  'clock-behind': ({ ms }) => `this machine's clock is ${ms} ms behind the store's`,
  'disk-unseen': () => 'not seen from here',
  'disk-low': ({ mebibytes, path }) => `${mebibytes} MiB are free beside "${path}"`,
  none: () => 'there is none',
  'calls-wait': ({ waiting, pool }) => `${waiting} calls wait for connections of "${pool}"`,
  'replica-silent': () => 'it cannot be asked: the primary answers in its place',
  'replica-behind': ({ ms }) => `it is ${ms} ms behind`,
  'keys-lost': () => 'API keys cannot be read, and none is taken any more',
  'keys-unread': ({ seconds }) =>
    `API keys cannot be read: those that are known are taken for another ${seconds} s, and of others nobody can say`,
  'endpoints-down': ({ down, all, said }) => `${down} of ${all} endpoints are down: ${said}`,
  'endpoints-unseen': ({ late, all, ...of }) => `nobody probes ${late} of ${all} endpoints: ${list(of)}`,
  'no-finding': () => 'the check answered what is no finding',
  'unreadable-finding': () => 'the check answered what cannot be read',
  silent: ({ ms }) => `no answer for ${ms} ms`,
  'too-slow': ({ ms }) => `no answer within ${ms} ms`,
}

function list({ names, more }: HealthDetails['breakers-open']): string {
  return names + (more > 0 ? ` and ${more} more` : '')
}
