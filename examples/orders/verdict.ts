// What the judge is shown, what it holds everyone to, and what it says.
import type { LedgerRows } from './services/ledger.ts'

export interface Evidence {
  orders: { id: string }[]
  ledgers: LedgerRows[]
  tasks: { orderId: string; status: string; outcome: string }[]
  /** Which service's work builds on which others'; what was done last must be undone first. */
  dependsOn?: Record<string, string[]>
}

export interface Violation {
  rule: Rule
  orderId: string | null
  detail: string
}

export const rules = {
  'lost-order': 'every order has a task',
  'duplicate-task': 'every order has one task only',
  'unknown-order': 'nobody works for an order that does not exist',
  'not-stopped': 'every task comes to its end',
  'wrong-outcome': 'every task ends as fulfilled (success, warning) or as undone (compensated, error)',
  'done-twice': 'no service does its work for an order twice',
  'not-done': 'a fulfilled order has all its work done',
  'undone-but-fulfilled': 'a fulfilled order has nothing undone',
  'not-undone': 'an order that is not fulfilled has nothing left in effect',
  'undone-twice': 'nothing is undone twice, or asked to be',
  'undo-without-effect': 'nothing is undone, or asked to be, that was not done before',
  'undo-order': 'what builds on other work is undone before it, and nothing new is done once undoing began',
  'key-conflict': 'an idempotency key always stands for the same request',
}
export type Rule = keyof typeof rules

export interface Verdict {
  ok: boolean
  violations: Violation[]
  counts: {
    orders: number
    fulfilled: number
    undone: number
    requests: number
    effects: number
    undos: number
    refusals: number
    faults: Record<string, number>
  }
}
