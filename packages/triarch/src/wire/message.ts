import type { ErrorRecord, Json } from '../kernel/json.ts'
import type { CacheMark, Operation } from '../kernel/step/step.ts'
import type { LogLevel } from '../value/level.ts'

/** The version of the protocol: docs/protocol.md. */
export const PROTOCOL = 1

/**
 * What an agent's process runs of one agent.
 * @example const offered: OfferedAgent = { name: 'mail', slots: 10, actions: ['mail.send'] }
 */
export interface OfferedAgent {
  /** The agent's name. */
  name: string
  /** Most attempts at a time. */
  slots: number
  /** Actions as `agent.action`; a finalizer as `agent.action:finalize`. */
  actions: string[]
}

/**
 * How an attempt ended, as reported by its agent.
 * @example const outcome: RemoteOutcome = { kind: 'done', output: { sent: true } }
 */
export type RemoteOutcome =
  | { kind: 'done'; output?: Json | undefined; cached?: CacheMark | undefined }
  /** For verify: the operation has not taken effect. */
  | { kind: 'not-done' }
  /** For verify: it cannot be determined. */
  | { kind: 'unknown' }
  | {
      kind: 'failed'
      error: ErrorRecord
      /** False: retrying does not help. */
      retryable: boolean
      /** The service asked for a cooldown of this long (ms). */
      retryAfter?: number | undefined
      /** The attempt may have taken effect all the same. */
      unknown?: true | undefined
      /** The attempt did its work, but its result cannot be recorded. */
      done?: true | undefined
      /** The attempt was cut off: its process stops (`stop`), or never began it (`alive`). */
      lost?: 'stop' | 'alive' | undefined
      /** The outcome came from a node's cache. Agents without a store have none. */
      cached?: CacheMark | undefined
    }
  /** The attempt did not begin; there is no slot for it before `after` (ms). */
  | { kind: 'withdrawn'; after?: number | undefined }

/**
 * A message from an agent's process.
 * @example const reply: AgentMessage = { type: 'reply', attempt, outcome: { kind: 'done', output: 1 } }
 */
export type AgentMessage =
  /** The first message, and again after `reset`. */
  | {
      type: 'hello'
      protocol: number
      /** Identifies the process: drawn at random when it starts. */
      instance: string
      /** Counts the hellos of the process; one that is older than another already taken is ignored. */
      count: number
      agents: OfferedAgent[]
      /** Attempts that it runs, or has answered without getting an `ack`. */
      running: string[]
      /** Software name, for people to read. */
      software?: string | undefined
    }
  /** How many attempts of the agent the process takes from now on. */
  | { type: 'credit'; agent: string; slots: number }
  /** `beat` counts up for each attempt; older heartbeats are ignored. */
  | {
      type: 'heartbeat'
      attempt: string
      beat: number
      progress?: Json | undefined
      checkpoint?: Json | undefined
    }
  | { type: 'reply'; attempt: string; outcome: RemoteOutcome; checkpoint?: Json | undefined }
  /** The step waits for a signal and occupies nothing meanwhile. Times in ms. */
  | {
      type: 'suspend'
      attempt: string
      timeout?: number | undefined
      signals?: { in: number; name: string; payload?: Json | undefined }[] | undefined
      checkpoint?: Json | undefined
      progress?: Json | undefined
      /** The step runs again, with the signal `cancel`, when its task is cancelled. */
      onCancel?: true | undefined
      page?: RemotePage | undefined
    }
  /** Log lines of the attempt's code. */
  | { type: 'log'; attempt: string; lines: RemoteLine[] }
  /** The process takes no more attempts. */
  | { type: 'drain' }
  /** The process ends; attempts that it has not answered are lost. */
  | { type: 'leave' }

/**
 * A line of a log.
 * @example const line: RemoteLine = { n: 1, ago: 250, level: 'info', message: 'sent', fields: { to: 'ada' } }
 */
export interface RemoteLine {
  /** Counts up for each attempt, from 1; identifies a line that is sent again. */
  n: number
  /** How long before this message the line was written (ms). */
  ago: number
  /** Its level. */
  level: LogLevel
  /** Its text. */
  message: string
  /** Further fields: an object. */
  fields?: Json | undefined
  /** How many lines before it were dropped. */
  dropped?: number | undefined
}

/**
 * A page of a batch.
 * @example const page: RemotePage = { offset: 0, items: [{ input: 1 }], last: true }
 */
export interface RemotePage {
  /** The ordinal of the first item. */
  offset: number
  /** The inputs of children, and the locks that each must have to begin. */
  items: {
    input?: Json | undefined
    exclusive?: { key: string; ifHeld: 'queue' | 'reject' | 'replace' }[] | undefined
  }[]
  /** Whether no more pages follow. */
  last: boolean
  /** Digest of the items: the same digest under another offset fails the batch. */
  digest?: string | undefined
}

/**
 * An attempt as it is sent to an agent's process.
 * @example const key = ({ idempotencyKey }: RemoteAttempt): string => idempotencyKey
 */
export interface RemoteAttempt {
  /** Identifies the attempt in all messages about it. */
  attempt: string
  /** The agent's name. */
  agent: string
  /** The action, as `agent.action`. */
  action: string
  /** The operation to perform. */
  operation: Operation
  /** Which attempt of the operation it is, from 1. */
  number: number
  /** The id of the task. */
  task: string
  /** The number of the step in its task. */
  step: number
  /** The name of the step. */
  name: string
  /** The name of the task's workflow. */
  workflow: string
  /** The version of the workflow. */
  version: string
  /** The same for all attempts of the operation. */
  idempotencyKey: string
  /** Resumes the step when it is suspended. Not sent between nodes of one store, which make it themselves. */
  token?: string
  /** The action's input. */
  input: Json
  /** For undo: the output to be undone. */
  output?: Json
  /** The checkpoint saved by an earlier attempt. */
  checkpoint?: Json
  /** The signal with which a suspended step runs again. */
  signal?: { name: string; payload: Json }
  /** The task's metadata. */
  metadata?: Readonly<Record<string, string>>
  /** The task's run, identified by the number of its first step; absent: the first run. */
  run?: number
  /** The highest fencing number of the locks its task held. */
  fence?: number
  /** The attempt must be answered within this time from reading the message (ms). */
  attemptWithin: number
  /** Longest time without a heartbeat (ms); absent: unlimited. */
  heartbeatWithin?: number
}

/** Numbered messages are sent until they are seen. */
export type NumberedMessage =
  | ({ type: 'attempt' } & RemoteAttempt)
  /**
   * The reply is durable, or counts for nothing (`late`), so it need not be kept. `code`: it was refused, because no server of this store
   * gave the attempt to an agent of this process.
   */
  | { type: 'ack'; attempt: string; late?: true; code?: 'ATTEMPT_NOT_GIVEN' }
  /** The attempt is to end: its task stops (`STEP_CANCELLED`), or no longer waits for it. */
  | { type: 'abort'; attempt: string; code: string; message: string }
  /** This server stops. Running attempts go on and are answered elsewhere. */
  | { type: 'drain' }

/**
 * A message from a server.
 * @example const isWork = (message: ServerMessage): boolean => message.type === 'attempt'
 */
export type ServerMessage =
  | ({ n: number } & NumberedMessage)
  /** Answers a hello. */
  | {
      type: 'welcome'
      protocol: number
      session: string
      /** A process that sends nothing for this long counts as dead (ms). */
      lease: number
      /** Largest output, in bytes of JSON. */
      payload: number
    }
  /** The server does not know the session; the process must say hello. */
  | { type: 'reset' }
  /** The server does not accept the hello. */
  | { type: 'refused'; code: 'PROTOCOL' | 'AGENT_HOSTED' | 'TOO_MANY'; message: string }

/**
 * One exchange with a server.
 * @example const request: AgentRequest = { session, seen: 7, wait: 5_000, messages: [] }
 */
export interface AgentRequest {
  /** The session id from the welcome; absent: the first message is a hello. */
  session?: string | undefined
  /** The number of the last message that the process has handled; 0 by default. */
  seen?: number | undefined
  /** How long the server may wait for messages (ms); 0 by default. */
  wait?: number | undefined
  /** The process's messages, in order. */
  messages: AgentMessage[]
  /** The caller, as the server has authenticated it; each caller has a quota. Absent: callers are not authenticated. */
  by?: string
}

/**
 * The answer to a request.
 * @example const { messages }: AgentResponse = await agents.exchange(request)
 */
export interface AgentResponse {
  /** The server's messages: all that were not seen, in the order of their numbers. */
  messages: ServerMessage[]
  /** How long after receiving the request the answer was sent (ms); on a WebSocket, after the last frame received. 0 by default. */
  after?: number
  /** On a WebSocket: how many frames of this connection the server had received. */
  heard?: number
}

const answersHello: readonly string[] = ['welcome', 'refused', 'drain']

/** The messages for a process that waits for a welcome; earlier ones belong to a former session. */
export function sinceHello(messages: readonly ServerMessage[]): readonly ServerMessage[] {
  const first = messages.findIndex(({ type }) => answersHello.includes(type))
  return first < 0 ? [] : messages.slice(first)
}
