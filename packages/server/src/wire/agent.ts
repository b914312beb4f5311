import type { AgentRequest } from 'triarch'
import { z } from 'zod'
import { level } from './log.ts'
import { json, named, texts, whole } from './schema.ts'

// The agent protocol, version 1: docs/protocol.md. What agents say is closed and bounded; what servers say is open, so that later versions add to it.

/** As names of agents and actions are where they are defined. Every store keeps them, and none of them makes a query of the queue fail. */
const agentName = z.string().regex(/^[A-Za-z0-9][\w-]{0,99}$/, 'the name of an agent')
const actionName = z.string().regex(/^[A-Za-z0-9][\w-]{0,99}\.[A-Za-z0-9][\w:-]{0,199}$/, 'the name of an action')
/** What people read and stores keep: without control characters and half surrogate pairs. */
const line = z.string().regex(/^[^\p{Cc}\p{Cs}]*$/u, 'no control characters and no half surrogate pairs')
const name = line.min(1).max(200)
const attempt = z.string().min(1).max(4_000)
const span = z.number().min(0).max(1e13)
const value = json.optional()

const failure = z.strictObject({
  name: z.string().max(10_000),
  message: z.string().max(100_000),
  code: z.string().max(10_000).optional(),
  stack: z.string().max(100_000).optional(),
  cause: json.optional(),
  details: json.optional(),
})

export const AgentHello = named(
  'AgentHello',
  z.strictObject({
    type: z.literal('hello'),
    protocol: z.int().min(1),
    instance: name,
    count: z.int().min(1),
    agents: z
      .array(
        z.strictObject({
          name: agentName,
          slots: z.int().min(0).max(100_000),
          actions: z.array(actionName).max(1_000),
        }),
      )
      .min(1)
      .max(100),
    running: z.array(attempt).max(10_000),
    software: line.max(200).optional(),
  }),
)
export const AgentCredit = named(
  'AgentCredit',
  z.strictObject({ type: z.literal('credit'), agent: agentName, slots: z.int().min(0).max(100_000) }),
)
export const AgentHeartbeat = named(
  'AgentHeartbeat',
  z.strictObject({ type: z.literal('heartbeat'), attempt, beat: z.int().min(1), progress: value, checkpoint: value }),
)
export const AgentReply = named(
  'AgentReply',
  z.strictObject({
    type: z.literal('reply'),
    attempt,
    outcome: z.union([
      z.strictObject({ kind: z.literal('done'), output: value }),
      z.strictObject({ kind: z.enum(['not-done', 'unknown']) }),
      z.strictObject({ kind: z.literal('withdrawn'), after: span.optional() }),
      z.strictObject({
        kind: z.literal('failed'),
        error: failure,
        retryable: z.boolean(),
        retryAfter: span.optional(),
        unknown: z.literal(true).optional(),
        done: z.literal(true).optional(),
        lost: z.enum(['stop', 'alive']).optional(),
      }),
    ]),
    checkpoint: value,
  }),
)
export const AgentSuspend = named(
  'AgentSuspend',
  z.strictObject({
    type: z.literal('suspend'),
    attempt,
    timeout: span.min(1).optional(),
    signals: z
      .array(
        z.strictObject({ in: span, name: name.refine((it) => it !== 'timeout' && it !== 'cancel'), payload: value }),
      )
      .max(100)
      .optional(),
    checkpoint: value,
    progress: value,
    onCancel: z.literal(true).optional(),
    page: z
      .strictObject({
        offset: whole,
        items: z
          .array(
            z.strictObject({
              input: value,
              exclusive: z
                .array(z.strictObject({ key: name, ifHeld: z.enum(['queue', 'reject', 'replace']) }))
                .max(100)
                .optional(),
            }),
          )
          .max(10_000),
        last: z.boolean(),
        digest: line.max(100).optional(),
      })
      .optional(),
  }),
)
export const AgentLog = named(
  'AgentLog',
  z.strictObject({
    type: z.literal('log'),
    attempt,
    lines: z
      .array(
        z.strictObject({
          n: z.int().min(1),
          ago: span,
          level,
          message: z.string().max(10_000),
          fields: z.record(z.string(), json).optional(),
          dropped: whole.optional(),
        }),
      )
      .min(1)
      .max(1_000),
  }),
)
export const AgentDrain = named('AgentDrain', z.strictObject({ type: z.literal('drain') }))
export const AgentLeave = named('AgentLeave', z.strictObject({ type: z.literal('leave') }))

const said = [
  AgentHello,
  AgentCredit,
  AgentHeartbeat,
  AgentReply,
  AgentSuspend,
  AgentLog,
  AgentDrain,
  AgentLeave,
] as const
const AgentMessageSchema = named('AgentMessage', z.union(said))

export const AgentExchange = named(
  'AgentExchange',
  z.strictObject({
    session: z.string().max(200).optional(),
    seen: whole.optional(),
    wait: z.int().min(0).max(3_600_000).optional(),
    messages: z.array(AgentMessageSchema).max(1_000),
  }),
)

const n = z.int().min(1)

export const ServerAttempt = named(
  'ServerAttempt',
  z.object({
    n,
    type: z.literal('attempt'),
    attempt: z.string(),
    agent: z.string(),
    action: z.string(),
    operation: z.enum(['run', 'undo', 'verify']),
    number: z.int().min(1),
    task: z.string(),
    step: whole,
    name: z.string(),
    workflow: z.string(),
    version: z.string(),
    idempotencyKey: z.string(),
    token: z.string().optional(),
    input: json,
    output: value,
    checkpoint: value,
    signal: z.object({ name: z.string(), payload: json }).optional(),
    metadata: texts.optional(),
    run: whole.optional(),
    fence: whole.optional(),
    attemptWithin: z.number().min(0),
    heartbeatWithin: z.number().min(0).optional(),
  }),
)
export const ServerAck = named(
  'ServerAck',
  z.object({
    n,
    type: z.literal('ack'),
    attempt: z.string(),
    late: z.literal(true).optional(),
    code: z.literal('ATTEMPT_NOT_GIVEN').optional(),
  }),
)
export const ServerAbort = named(
  'ServerAbort',
  z.object({ n, type: z.literal('abort'), attempt: z.string(), code: z.string(), message: z.string() }),
)
export const ServerDrain = named('ServerDrain', z.object({ n, type: z.literal('drain') }))
export const ServerWelcome = named(
  'ServerWelcome',
  z.object({
    type: z.literal('welcome'),
    protocol: z.int().min(1),
    session: z.string(),
    lease: z.number(),
    payload: z.int(),
  }),
)
export const ServerReset = named('ServerReset', z.object({ type: z.literal('reset') }))
export const ServerRefused = named(
  'ServerRefused',
  z.object({
    type: z.literal('refused'),
    code: z.enum(['PROTOCOL', 'AGENT_HOSTED', 'TOO_MANY']),
    message: z.string(),
  }),
)

const answers = [
  ...([ServerAttempt, ServerAck, ServerAbort, ServerDrain] as const),
  ...([ServerWelcome, ServerReset, ServerRefused] as const),
] as const
const ServerMessageSchema = named('ServerMessage', z.union(answers))

export const ServerExchange = named(
  'ServerExchange',
  z.object({
    messages: z.array(ServerMessageSchema),
    after: z.number().min(0).optional(),
    heard: z.int().min(0).optional(),
  }),
)

/** A request, once it has been checked. */
export function requestOf(checked: z.output<typeof AgentExchange>): AgentRequest {
  return checked as AgentRequest
}
