import type { RemoteAgents, Right, Triarch, Workflow } from 'triarch'
import type { z } from 'zod'
import type { Held } from '../held.ts'
import type { Streams } from '../live/streams.ts'
import type { Principal } from '../options.ts'
import type { Problem } from '../problem/problem.ts'
import type { ProblemStatus } from '../problem/status.ts'
import type { Guard } from '../request/guard.ts'
import type { Reads } from '../request/reads.ts'
import type { Waits } from '../waits.ts'
import type { Sent } from '../wire/schema.ts'

/** What a route answers, by status. */
export type Answers = Readonly<Record<number, RouteResponse>>

interface RouteResponse {
  description: string
  schema?: z.ZodType
  /** It is a stream of these, by their names. */
  events?: Readonly<Record<string, z.ZodType>>
  headers?: readonly ('Location' | 'Retry-After')[]
}

/** One of the answers, as its schema has it. */
export type Reply<A extends Answers> = {
  [S in keyof A & number]: {
    status: S
    headers?: Readonly<Record<string, string>>
  } & (A[S] extends { schema: infer B extends z.ZodType }
    ? { body: Sent<z.output<B>> }
    : A[S] extends { events: object }
      ? { stream: ReadableStream }
      : { body?: never })
}[keyof A & number]

/** What all routes work with. */
export interface Site {
  triarch: Triarch
  /** Throws UNKNOWN_WORKFLOW. */
  workflow(name: string, version?: string): Workflow
  workflows: readonly Workflow[]
  guard: Guard
  waits: Waits
  streams: Streams
  /** Whether the process was asked to end: requests are answered, and load balancers are to send no more. */
  isLeaving(): boolean
  reads: Reads
  /** What answers hold for clients who have not read them. */
  held: Held
  /** As bad as this is not well. */
  unhealthyAt: 'warning' | 'critical'
  /** Those in processes without a store. */
  agents: RemoteAgents
  /** What a client is told of an error. */
  problem(error: unknown): Problem
  /** Milliseconds of a duration. */
  span(duration: string): number
  /** Milliseconds of a request's `wait`: no more than there may be. Throws INVALID_DURATION. */
  patience(wait: string | undefined): number
}

export interface RouteCall<Path extends string, Q, B> {
  params: Readonly<Record<ParamsOf<Path>, string>>
  query: Q
  body: B
  headers: Headers
  /** Who asks; null: nobody was asked who they are. */
  principal: Principal | null
  /** Asks anew who asks, and throws where they may not ask this any more; null: nobody is asked who they are. */
  still: (() => Promise<void>) | null
  /** Aborts when the client goes away. */
  signal: AbortSignal
}

type ParamsOf<Path extends string> = Path extends `${string}{${infer N}}${infer Rest}` ? N | ParamsOf<Rest> : never

/** One operation: what validates it, what describes it, and what it does. */
export interface RouteDefinition<Path extends string, Q extends z.ZodObject, B extends z.ZodType, A extends Answers> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below /api/v1: '/tasks/{id}'. */
  path: Path
  /** The name of the operation in the document. */
  id: string
  summary: string
  query?: Q
  body?: B
  /** Headers that it reads, and what they mean. */
  headers?: Readonly<Record<string, string>>
  answers: A
  /** Besides those that any route may have. */
  problems?: readonly ProblemStatus[]
  /** Nobody is asked who they are. */
  open?: true
  /** What whoever asks must have; null: nothing. `read` where it only looks, else `control`. */
  right?: Right | null
  /** It is at this path without /api/v1, too. */
  short?: true
  run(call: RouteCall<Path, z.output<Q>, z.output<B>>, site: Site): Promise<Reply<A>>
}

export type Route = Omit<RouteDefinition<string, z.ZodObject, z.ZodType, Answers>, 'run'> & {
  run(
    call: RouteCall<string, unknown, unknown>,
    site: Site,
  ): Promise<{
    status: number
    headers?: Readonly<Record<string, string>>
    body?: unknown
    stream?: ReadableStream
  }>
}

/** An answer; its status keeps its type. */
export function reply<S extends number>(status: S): { status: S }
export function reply<S extends number, B>(
  status: S,
  body: B,
  headers?: Readonly<Record<string, string>>,
): { status: S; body: B }
export function reply(status: number, body?: unknown, headers?: Readonly<Record<string, string>>): object {
  return { status, ...(body !== undefined && { body }), ...(headers && { headers }) }
}

export function route<
  const Path extends string,
  const A extends Answers,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
>(definition: RouteDefinition<Path, Q, B, A>): Route {
  return definition as unknown as Route
}

/** Null: none. */
export function rightOf({ method, open, right }: Pick<Route, 'method' | 'open' | 'right'>): Right | null {
  if (open) return null
  return right === undefined ? (method === 'GET' ? 'read' : 'control') : right
}

type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** Without what is not given. */
export function given<T extends object>(options: T): Given<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Given<T>
}
