import { expect } from 'vitest'
import type { Message } from '../../src/kernel/message.ts'
import type * as port from '../../src/store/port.ts'
import { list } from '../store/listing.ts'
import { lockNames, nodeIds } from './choice.ts'
import {
  before,
  byKey,
  type ExpectedCommit,
  type ExpectedSubmit,
  inbox,
  lettersOf,
  type ModelLetter,
  type ModelTask,
  type ModelWork,
  nextWake,
  type Reference,
} from './reference.ts'

// Where the store's answers are held against the model's. The ids it gives are learned on the way.

export function agreeOnKeys(
  model: Reference,
  expected: readonly ExpectedSubmit[],
  actual: readonly port.SubmitOutcome[],
): void {
  const said = ({ created, heldBy }: { created: boolean; heldBy?: string }) => [created, heldBy]
  expect(actual.map(said)).toEqual(expected.map(said))
  for (const [index, { key }] of actual.entries()) {
    const id = expected[index]?.id ?? ''
    // One that was refused a lock never was, nor has it a key; another of its id may have come before it.
    if (model.tasks.has(id) && actual[index]?.heldBy === undefined) learnKey(model, id, key)
  }
}

export function agreeOnCommit(
  model: Reference,
  expected: readonly ExpectedCommit[],
  actual: readonly port.CommitOutcome[],
): void {
  const said = actual.map((outcome) => (outcome.ok ? { ok: true } : outcome))
  expect(said).toEqual(expected.map((outcome) => (outcome.ok ? { ok: true } : outcome)))
  for (const [index, outcome] of actual.entries()) {
    const mine = expected[index]
    if (outcome.ok && mine?.ok) learnKey(model, mine.id, outcome.key)
  }
}

/** A key is one task's, for good. */
function learnKey(model: Reference, id: string, key: number): void {
  expect([undefined, id], `key ${key}`).toContain(byKey(model, key)?.id)
  const task = model.tasks.get(id) as ModelTask
  expect([null, key], `key of ${id}`).toContain(task.key)
  task.key = key
}

export function agreeOnClaims(model: Reference, expected: readonly string[], actual: readonly port.Claim[]): void {
  expect(actual.map(({ id }) => id)).toEqual(expected)
  for (const { letters, work, records, more: _, trial, ...rest } of actual) {
    const task = model.tasks.get(rest.id) as ModelTask
    learnKey(model, task.id, rest.key)
    const { key, id, workflow, version, epoch, orphaned } = task
    expect(rest).toEqual({ key, id, workflow, version, epoch, orphaned })
    expect(trial).toEqual(task.onTrial ? { strikes: task.strikes } : undefined)
    expect(records).toEqual(replayed(task))
    agreeOnLetters(model, lettersOf(model, id), letters)
    const mine = model.work.filter((it) => it.task === id)
    const attempts = mine.map(({ request: { step, operation, attempt } }) => ({ step, operation, attempt }))
    expect(work).toEqual(attempts)
    task.orphaned = false
  }
}

function replayed({ records, base }: ModelTask): port.HistoryRecord[] {
  return records.filter(({ seq }) => seq === 1 || seq >= base)
}

export function agreeOnWork(expected: readonly ModelWork[], actual: readonly port.WorkItem[]): void {
  expect(actual.map(({ id: _, ...item }) => item)).toEqual(
    expected.map(({ request: { agent, request, heartbeatWithin }, completeBy }) => ({
      agent,
      request,
      completeBy,
      heartbeatWithin,
    })),
  )
  for (const [index, { id }] of actual.entries()) (expected[index] as ModelWork).id = id
}

/** Oldest operation first; within one, each task's posts in their order, and everything else in any. */
export function agreeOnLetters(
  model: Reference,
  expected: readonly ModelLetter[],
  actual: readonly port.InboxMessage[],
  limit = Number.POSITIVE_INFINITY,
): void {
  expect(actual.length, `letters ${JSON.stringify(actual)} for ${JSON.stringify(expected)}`).toBe(
    Math.min(expected.length, limit),
  )
  expect(actual.map(({ id }) => id)).toEqual(actual.map(({ id }) => id).sort((a, b) => a - b))
  const open = [...expected]
  for (const letter of actual) {
    const round = open[0]?.round
    const found = open.findIndex(
      (mine) =>
        mine.round === round &&
        (mine.id === null || mine.id === letter.id) &&
        model.tasks.get(mine.task)?.key === letter.key &&
        mine.messages.some((message) => same(message, letter.message)),
    )
    expect(found, `letter ${JSON.stringify(letter)} of ${JSON.stringify(open)}`).toBeGreaterThanOrEqual(0)
    const [mine] = open.splice(found, 1) as [ModelLetter]
    const before = open.slice(0, found).filter((it) => it.posted && it.round === mine.round && it.task === mine.task)
    if (mine.posted) expect(before, `posts before ${JSON.stringify(letter)}`).toEqual([])
    mine.id = letter.id
    mine.messages = [letter.message]
  }
}

/** The texts of errors that the store itself makes are its own. */
function same(a: Message, b: Message): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const made = 'code' in value && 'message' in value ? { code: value.code } : value
  return Object.fromEntries(
    Object.entries(made)
      // Fencing numbers rise (gate.suite.ts); by how much is the store's affair.
      .filter(([name, it]) => it !== undefined && name !== 'fence')
      .sort(([x], [y]) => (x < y ? -1 : 1))
      .map(([name, it]) => [name, sorted(it)]),
  )
}

/** Every reader of the store tells what the model holds. */
export async function agreeOnEverything(model: Reference, store: port.StateStore): Promise<void> {
  const tasks = [...model.tasks.values()]
  const read = tasks.map(({ id }) => Promise.all([store.task(id), store.records(id, 0, 1_000), store.replay(id)]))
  const letters = nodeIds.map((node) => store.inbox(node, 1_000))
  const rest = [store.counts(), store.nodes(), store.nextWake(), list(store, { order: 'oldest' })] as const
  for (const [index, task] of tasks.entries()) {
    const [row, records, replay] = (await read[index]) as [port.TaskRow, port.HistoryRecord[], port.HistoryRecord[]]
    expect(row, `task ${task.id}`).not.toBeNull()
    learnKey(model, task.id, row.key)
    expect(row).toEqual(rowOf(task))
    expect(records).toEqual(task.records)
    expect(replay).toEqual(replayed(task))
  }
  for (const [index, node] of nodeIds.entries()) {
    agreeOnLetters(model, inbox(model, node), (await letters[index]) as port.InboxMessage[])
  }
  for (const name of lockNames) {
    const line = model.locks
      .filter((lock) => lock.name === name)
      .map((lock) => ({ lock, ahead: before(model, lock).length }))
    const mine = line
      .sort((a, b) => a.ahead - b.ahead)
      .map(({ lock: { task, step, held }, ahead }) => ({ name, task, step, held, ahead }))
    expect(
      (await store.locks({ name })).map(({ since: _, ...row }) => row),
      `lock ${name}`,
    ).toEqual(mine)
  }
  const [counts, living, wake, rows] = await Promise.all(rest)
  expect(counts).toEqual({
    tasks: tasks.length,
    ready: tasks.filter(({ ready }) => ready).length,
    work: model.work.length,
    inbox: model.letters.length,
  })
  const alive = [...model.nodes.values()].filter((node) => !node.dead).sort((a, b) => (a.id < b.id ? -1 : 1))
  expect(living).toEqual(alive.map(({ dead: _, ...node }) => node))
  expect(wake).toBe(nextWake(model))
  expect(rows).toEqual(tasks.map(rowOf).sort((a, b) => a.key - b.key))
}

export function rowOf(task: ModelTask): port.TaskRow {
  const {
    orphaned: _o,
    base: _b,
    records: _r,
    readied: _d,
    suspicion: _s,
    claimedSeq: _c,
    onTrial: _t,
    strikes: _k,
    key,
    ...row
  } = task
  return { ...row, key: key as number }
}
