import { COUNTS, NEXT_WAKE, NODES, RECORDS, REPLAY, TASK } from './reads.ts'
import { inSchema } from './schema.ts'
import type { Statement } from './slot.ts'

type Call = 'commit' | 'submit' | 'post' | 'claim' | 'take_work' | 'reply'
type Plain = 'letters' | 'beat_work' | 'beat' | 'leave' | 'lead' | 'sweep' | 'clock'
type Read = 'task' | 'records' | 'replay' | 'nodes' | 'counts' | 'nextWake'

/** Functions of our schema, with how many parameters they take. Calls begin with the slot and the number. */
const calls: Readonly<Record<Call, number>> = { commit: 77, submit: 13, post: 5, claim: 8, take_work: 7, reply: 5 }
const plain: Readonly<Record<Plain, number>> = {
  letters: 2,
  beat_work: 4,
  beat: 4,
  leave: 2,
  lead: 4,
  sweep: 4,
  clock: 1,
}
const reads: Readonly<Record<Read, string>> = {
  task: TASK,
  records: RECORDS,
  replay: REPLAY,
  nodes: NODES,
  counts: COUNTS,
  nextWake: NEXT_WAKE,
}

export type Statements = Record<Call | Plain | Read, Statement>

/** Every fixed statement, prepared under its name where sessions keep such things. */
export function statementsIn(schema: string): Statements {
  const statement = (name: string, sql: string, numbered: boolean) => [
    name,
    { name: `triarch_${name}`, sql: inSchema(sql, schema), numbered },
  ]
  return Object.fromEntries([
    ...Object.entries(calls).map(([name, count]) => statement(name, call(name, count), true)),
    ...Object.entries(plain).map(([name, count]) => statement(name, call(name, count), false)),
    ...Object.entries(reads).map(([name, sql]) => statement(name, sql, false)),
  ]) as Statements
}

function call(name: string, count: number): string {
  return `SELECT * FROM triarch.${name}(${Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')})`
}
