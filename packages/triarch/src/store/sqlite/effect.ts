import type { Effect } from '../port.ts'
import type { Database } from './database.ts'

const OWNED = 'SELECT 1 FROM triarch_tasks WHERE key = ? AND epoch = ? AND locked_by = ?'
const ANSWER = 'SELECT answer FROM triarch_effects WHERE task = ? AND step = ? AND name = ?'
const FORGET = 'DELETE FROM triarch_effects WHERE task = ? AND step < ?'
const KEEP = 'INSERT INTO triarch_effects (task, step, name, answer) VALUES (?, ?, ?, ?)'

export function isOwned(database: Database, { key, epoch, node }: Effect): boolean {
  return database.get(OWNED, key, epoch, node) !== undefined
}

/**
 * Returns the stored answer. The caller owns the task, so a transaction of an earlier owner, which held the write lock
 * from its fence to its end, is over by now, and so is one of this owner that was given up.
 */
export function effect(database: Database, _now: number, { key, step, name }: Effect): string | null {
  return database.get<{ answer: string }>(ANSWER, key, step, name)?.answer ?? null
}

/** Stores the answer inside the transaction. */
export function keepEffect(database: Database, { key, step, firstStep, name }: Effect, answer: string): void {
  database.run(FORGET, key, firstStep)
  database.run(KEEP, key, step, name, answer)
}
