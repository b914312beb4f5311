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
  /** As `agent.action`; a finalizer as `agent.action:finalize`. */
  actions: string[]
}

/**
 * How an attempt ended, as its agent says.
 * @example const outcome: RemoteOutcome = { kind: 'done', output: { sent: true } }
 */
export type RemoteOutcome =
  | { kind: 'done'; output?: Json | undefined; cached?: CacheMark | undefined }
  /** Of verify: it has not taken effect. */
  | { kind: 'not-done' }
  /** Of verify: nobody knows. */
  | { kind: 'unknown' }
  | {
      kind: 'failed'
      error: ErrorRecord
      /** False: trying again is no help. */
      retryable: boolean
      /** The service asked to be left alone for so long (ms). */
      retryAfter?: number | undefined
      /** It may have taken effect all the same. */
      unknown?: true | undefined
      /** It did its work, and what it gave cannot be recorded. */
      done?: true | undefined
      /** It was cut off: its process stops, or never began it. */
      lost?: 'stop' | 'alive' | undefined
      /** A node found it in a cache: agents without a store have none. */
      cached?: CacheMark | undefined
    }
  /** Nothing happened: there is no place for it before `after` (ms). */
  | { kind: 'withdrawn'; after?: number | undefined }

/**
 * What an agent's process says.
 * @example const reply: AgentMessage = { type: 'reply', attempt, outcome: { kind: 'done', output: 1 } }
 */
export type AgentMessage =
  /** First of all, and again after `reset`. */
  | {
      type: 'hello'
      protocol: number
      /** This process: drawn at random when it starts. */
      instance: string
      /** The how-manieth of its hellos: one that is late, and older than another, is not heard. */
      count: number
      agents: OfferedAgent[]
      /** Attempts that it runs, or has answered without an `ack`. */
      running: string[]
      /** For people to read. */
      software?: string | undefined
    }
  /** How many attempts of the agent it takes from now on. */
  | { type: 'credit'; agent: string; slots: number }
  /** `beat` counts up for each attempt: older ones change nothing. */
  | {
      type: 'heartbeat'
      attempt: string
      beat: number
      progress?: Json | undefined
      checkpoint?: Json | undefined
    }
  | { type: 'reply'; attempt: string; outcome: RemoteOutcome; checkpoint?: Json | undefined }
  /** The step waits for a signal, and holds nothing meanwhile. Spans in ms. */
  | {
      type: 'suspend'
      attempt: string
      timeout?: number | undefined
      signals?: { in: number; name: string; payload?: Json | undefined }[] | undefined
      checkpoint?: Json | undefined
      progress?: Json | undefined
      /** It runs again, with the signal `cancel`, when its task is cancelled. */
      onCancel?: true | undefined
      page?: RemotePage | undefined
    }
  /** What the code of the attempt wrote into its log. */
  | { type: 'log'; attempt: string; lines: RemoteLine[] }
  /** It takes no more attempts. */
  | { type: 'drain' }
  /** It ends: what it has not answered is lost. */
  | { type: 'leave' }

/**
 * A line of a log.
 * @example const line: RemoteLine = { n: 1, ago: 250, level: 'info', message: 'sent', fields: { to: 'ada' } }
 */
export interface RemoteLine {
  /** Counts up for each attempt, from 1: what comes again is known by it. */
  n: number
  /** How long before this was said it was written (ms). */
  ago: number
  /** How much it matters. */
  level: LogLevel
  /** What it says. */
  message: string
  /** What else it says: an object. */
  fields?: Json | undefined
  /** So many lines before it were dropped. */
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
  /** There are no more. */
  last: boolean
  /** Of its items: the same digest under another offset fails the batch. */
  digest?: string | undefined
}

/**
 * An attempt, as an agent's process is given it.
 * @example const key = ({ idempotencyKey }: RemoteAttempt): string => idempotencyKey
 */
export interface RemoteAttempt {
  /** Names it in all that is said of it. */
  attempt: string
  /** The agent's name. */
  agent: string
  /** As `agent.action`. */
  action: string
  /** What it is to do. */
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
  /** Its version. */
  version: string
  /** The same for every attempt of the operation. */
  idempotencyKey: string
  /** Resumes the step when it is suspended; not sent between nodes of one store, which make it themselves. */
  token?: string
  /** What the action is given. */
  input: Json
  /** Of undo: what is to be undone. */
  output?: Json
  /** What an earlier attempt saved. */
  checkpoint?: Json
  /** What a step that was suspended runs again with. */
  signal?: { name: string; payload: Json }
  /** Of its task. */
  metadata?: Readonly<Record<string, string>>
  /** The run of its task, by the number with which its steps begin; without it: the first. */
  run?: number
  /** The highest fencing number of the locks its task held. */
  fence?: number
  /** From the moment of reading this, it must be answered within (ms). */
  attemptWithin: number
  /** It may be silent for so long (ms); without it: for ever. */
  heartbeatWithin?: number
}

/** What is numbered is sent until it was seen. */
export type NumberedMessage =
  | ({ type: 'attempt' } & RemoteAttempt)
  /**
   * The reply is durable, or counts for nothing (`late`): it need not be kept. `code`: it was refused, for no server of this store gave the
   * attempt to an agent that this process has.
   */
  | { type: 'ack'; attempt: string; late?: true; code?: 'ATTEMPT_NOT_GIVEN' }
  /** The attempt is to end: its task stops (`STEP_CANCELLED`), or nobody waits for it any more. */
  | { type: 'abort'; attempt: string; code: string; message: string }
  /** This server stops: what runs goes on, and is answered elsewhere. */
  | { type: 'drain' }

/**
 * What a server says.
 * @example const isWork = (message: ServerMessage): boolean => message.type === 'attempt'
 */
export type ServerMessage =
  | ({ n: number } & NumberedMessage)
  /** It answers a hello. */
  | {
      type: 'welcome'
      protocol: number
      session: string
      /** A process that says nothing for so long is taken for dead (ms). */
      lease: number
      /** Bytes of JSON that an output may have. */
      payload: number
    }
  /** It does not know the session: say hello. */
  | { type: 'reset' }
  /** It takes no such hello. */
  | { type: 'refused'; code: 'PROTOCOL' | 'AGENT_HOSTED' | 'TOO_MANY'; message: string }

/**
 * One exchange with a server.
 * @example const request: AgentRequest = { session, seen: 7, wait: 5_000, messages: [] }
 */
export interface AgentRequest {
  /** As the welcome said; without it: a hello is the first message. */
  session?: string | undefined
  /** The number of the last message that it has dealt with; 0. */
  seen?: number | undefined
  /** How long the server may wait for something to say (ms); 0. */
  wait?: number | undefined
  /** What it says, in this order. */
  messages: AgentMessage[]
  /** Who says it, as the server knows them: each has bounds of its own. Nobody was asked who they are. */
  by?: string
}

/**
 * The answer to one.
 * @example const { messages }: AgentResponse = await agents.exchange(request)
 */
export interface AgentResponse {
  /** What the server says: all that was not seen, in the order of its numbers. */
  messages: ServerMessage[]
  /** How long after it had heard what it answers it says so (ms); on a WebSocket, after the last frame that it had heard. 0. */
  after?: number
  /** On a WebSocket: how many frames of this connection it had heard. */
  heard?: number
}

const answersHello: readonly string[] = ['welcome', 'refused', 'drain']

/** What is said to who waits to be welcomed: what comes before was said of a session that is no more. */
export function sinceHello(messages: readonly ServerMessage[]): readonly ServerMessage[] {
  const first = messages.findIndex(({ type }) => answersHello.includes(type))
  return first < 0 ? [] : messages.slice(first)
}
