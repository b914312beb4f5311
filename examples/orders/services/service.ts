// What every service has in common, apart from HTTP and faults: do something once per idempotency key, and take it back
// once. This is how well-made remote APIs behave; the engine's promises build on it.
import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Effect, Ledger } from './ledger.ts'

/** All that tells one service from another. */
export interface Definition {
  name: string
  action: Operation & { output?: (input: Body, id: string) => Body }
  /** Left out where nothing can be taken back, such as a mail. */
  undo?: Operation
  /** Something to read, as often as anybody likes: `GET /<kind>/<subject>`. */
  reads?: { kind: string; answer: (subject: string) => Body }
  /** The answer to an order that the service will never serve. */
  refusal: { status: number; error: string }
}

/** `POST /<kind>`, and the field of the answer that holds the new id. */
interface Operation {
  kind: string
  id: string
}

export type Body = Record<string, unknown>

export interface Answer {
  status: number
  body: Body
  /** Set when the caller broke a rule that a sound engine never breaks; the judge will see it. */
  violation?: 'undo-without-effect' | 'undone-twice' | 'key-conflict'
}

export interface Command {
  kind: string
  key: string
  input: Body
}

/** Carries out one command; call it inside a ledger transaction. */
export function perform(
  service: Definition,
  ledger: Ledger,
  command: Command,
  isRefused: (orderId: string) => boolean,
): Answer {
  const recorded = ledger.effectByKey(command.key)
  if (recorded) return repeat(recorded, command)
  return command.kind === service.undo?.kind
    ? undo(service, service.undo, ledger, command)
    : act(service, ledger, command, isRefused)
}

/** A key seen before gets the answer it got before, and nothing happens a second time. */
function repeat(recorded: Effect, { kind, input }: Command): Answer {
  if (recorded.kind === kind && isDeepStrictEqual(recorded.input, input)) return { status: 200, body: recorded.output }
  return { status: 422, body: { error: 'this key was used for another request' }, violation: 'key-conflict' }
}

function act(
  service: Definition,
  ledger: Ledger,
  { kind, key, input }: Command,
  isRefused: (orderId: string) => boolean,
): Answer {
  const { orderId } = input
  if (typeof orderId !== 'string') return { status: 400, body: { error: 'orderId is missing' } }
  if (isRefused(orderId)) return { status: service.refusal.status, body: { error: service.refusal.error } }
  const id = idFor(kind, key)
  const output = { [service.action.id]: id, ...service.action.output?.(input, id) }
  ledger.apply({ key, kind, orderId, id, undoes: null, input, output })
  return { status: 200, body: output }
}

function undo(service: Definition, operation: Operation, ledger: Ledger, { kind, key, input }: Command): Answer {
  const target = String(input[service.action.id])
  const effect = ledger.effectById(target)
  if (!effect) return { status: 409, body: { error: `no ${target} to ${kind}` }, violation: 'undo-without-effect' }
  if (ledger.isUndone(target)) {
    return { status: 409, body: { error: `${target} has its ${kind} already` }, violation: 'undone-twice' }
  }
  const id = idFor(kind, key)
  const output = { [operation.id]: id }
  ledger.apply({ key, kind, orderId: effect.orderId, id, undoes: target, input, output })
  return { status: 200, body: output }
}

function idFor(kind: string, key: string): string {
  return `${kind}_${hash('sha256', key).slice(0, 16)}`
}
