/**
 * What checks of the engine's own find, by codes that stay: what the message of each is made of; `names` are the first of some, `more` how many there are besides. Who speaks another language says it by these.
 * @example const waits = ({ task, seconds }: HealthDetails['task-waits']) => `${task} wartet seit ${seconds} s`
 */
export interface HealthDetails {
  /** The process is stopping. */
  stopping: null
  /** The process plays no role. */
  'no-role': null
  /** The store does not know the node. */
  'node-unknown': { node: string }
  /** The lease of the node ended so long ago. */
  'lease-ended': { node: string; ms: number }
  /** The event loop of this process was blocked for so long, so long ago. */
  'loop-blocked': { ms: number; seconds: number }
  /** No supervisor leads. */
  'no-leader': null
  /** The leader does not sweep: so many dead nodes are registered. */
  'no-sweep': { dead: number }
  /** No scheduler lives: no task goes on. */
  'no-scheduler': null
  /** Nobody plays these roles. */
  'roles-missing': { roles: string }
  /** The leases of these nodes ended. */
  'leases-ended': { names: string; more: number }
  /** A task should have gone on so long ago. */
  'timers-late': { seconds: number }
  /** The task waits for a scheduler, so long already. */
  'task-waits': { task: string; workflow: string; version: string; seconds: number }
  /** Requests wait for these agents, the oldest so long already. */
  'requests-wait': { names: string; more: number; seconds: number }
  /** Nobody hosts these agents, and requests wait. */
  'nobody-hosts': { names: string; more: number }
  /** These circuit breakers are open. */
  'breakers-open': { names: string; more: number }
  /** These schedules were due and did not start anything. */
  'schedules-late': { names: string; more: number }
  /** Nodes run other versions of these settings than they should. */
  'settings-drift': { names: string; more: number }
  /** A read took longer than the most that is well. */
  'read-slow': { ms: number; most: number }
  /** A commit took longer than the most that is well. */
  'commit-slow': { ms: number; most: number }
  /** The machine's clock is so far ahead of the store's. */
  'clock-ahead': { ms: number }
  /** The machine's clock is so far behind the store's. */
  'clock-behind': { ms: number }
  /** The disk of the store cannot be seen from here. */
  'disk-unseen': null
  /** So much is free beside the store. */
  'disk-low': { mebibytes: number; path: string }
  /** There is nothing of the kind to look at. */
  none: null
  /** So many calls wait for connections of the pool that has most of them waiting. */
  'calls-wait': { waiting: number; pool: string }
  /** The standby cannot be asked: the primary answers in its place. */
  'replica-silent': null
  /** The standby is so far behind. */
  'replica-behind': { ms: number }
  /** API keys cannot be read, and none is taken any more. */
  'keys-lost': null
  /** API keys cannot be read: those that are known are taken for so long. */
  'keys-unread': { seconds: number }
  /** So many of all endpoints are down; `said`: what their last probes met. */
  'endpoints-down': { down: number; all: number; said: string }
  /** Nobody probes these endpoints. */
  'endpoints-unseen': { names: string; more: number; late: number; all: number }
  /** The check answered what is no finding. */
  'no-finding': null
  /** The check answered what cannot be read. */
  'unreadable-finding': null
  /** The check has not answered for so long. */
  silent: { ms: number }
  /** The check did not answer within its bound. */
  'too-slow': { ms: number }
}

/**
 * The code of a message.
 * @example const isAlone = (code?: HealthCode) => code === 'no-leader' || code === 'no-scheduler'
 */
export type HealthCode = keyof HealthDetails

/** In English. */
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
