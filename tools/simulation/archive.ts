import type { NewTask, Post, SubmitOutcome } from '../../packages/triarch/src/store/port.ts'
import type { PruneRequest } from '../../packages/triarch/src/store/retention.ts'
import { retentionRules } from '../../packages/triarch/src/supervisor/retention.ts'
import { LEASE } from '../../packages/triarch/src/supervisor/supervisor.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { SharedStore, StoreCall } from '../../packages/triarch/src/testing/shared.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import { type Evidence, readStore, type Story } from '../../packages/triarch/test/crash/evidence.ts'

/** Rows of tasks that are not there. */
const left = ['history', 'effects', 'tags', 'inbox', 'work', 'locks', 'followers']
  .map(
    (table) =>
      `SELECT '${table} ' || task AS name FROM triarch_${table} WHERE task NOT IN (SELECT key FROM triarch_tasks)`,
  )
  .join(' UNION ALL ')

/** How long what is to go may still be there: a pruning comes every ten seconds. */
const LATE = 15_000

interface Dropped {
  story: Story
  at: number
}

/** Keeps what retention drops, for the oracles, and judges whether it might. */
export class Archive {
  readonly dropped: Dropped[] = []
  readonly faults: string[] = []
  /** Told when somebody asks something of a task, which may be one that is about to go. */
  asked: () => void = () => undefined
  readonly #world: World
  readonly #store: SharedStore
  readonly #gone: (id: string) => void
  #before: { tasks: Story[]; mail: Set<number> } = { tasks: [], mail: new Set() }

  /** `gone`: told of each task that was dropped. */
  constructor(world: World, store: SharedStore, gone: (id: string) => void) {
    this.#world = world
    this.#store = store
    this.#gone = gone
  }

  /** Drops what may go, as the leader of the moment might: leaders think of it once in ten seconds only. */
  prune(ages: Readonly<Record<string, number>>): void {
    const lease = this.#store.database.get<{ token: number }>('SELECT token FROM triarch_leases WHERE name = ?', LEASE)
    if (!lease) return
    const request = { name: LEASE, token: lease.token, rules: retentionRules(ages, []), limit: 500, records: 10_000 }
    if (this.#store.perform('prune', [request]) !== null) this.#pruned(request)
  }

  readonly before = (call: StoreCall): void => {
    if (call !== 'prune') return
    const { database } = this.#store
    const mail = database.all<{ task: number }>('SELECT task FROM triarch_inbox').map(({ task }) => task)
    this.#before = { ...readStore((sql, ...values) => readable(database.all(sql, ...values))), mail: new Set(mail) }
  }

  readonly observe = ({ name, args }: LinkCall, answer: unknown): void => {
    if (name === 'post' && (args[0] as Post[]).some(({ control }) => control)) this.asked()
    if (name === 'prune') this.#pruned(args[0] as PruneRequest)
    if (name === 'submit')
      for (const [index, task] of (args[0] as NewTask[]).entries()) this.#born(task, (answer as SubmitOutcome[])[index])
  }

  #pruned({ rules }: PruneRequest): void {
    const { database } = this.#store
    const there = new Set(database.all<{ key: number }>('SELECT key FROM triarch_tasks').map(({ key }) => key))
    for (const story of this.#before.tasks) {
      if (there.has(story.row.key)) continue
      const rule = rules.find(({ result }) => result === story.row.result)
      for (const why of this.#wrong(story, rule?.age ?? null)) this.faults.push(`${story.row.id} was dropped ${why}`)
      this.dropped.push({ story, at: this.#world.now })
      this.#gone(story.row.id)
    }
    for (const { name } of database.all<{ name: string }>(left)) this.faults.push(`${name} of a dropped task are left`)
  }

  #wrong({ row }: Story, age: number | null): string[] {
    const { tasks, mail } = this.#before
    const { updated_at: at, quarantined } = row as unknown as { updated_at: number; quarantined: number }
    const kept = this.#world.now - at
    const child = tasks.find((other) => other.row.parent === row.id && other.row.status !== 'stopped')
    return [
      ...(row.status === 'stopped' ? [] : [`while it is ${row.status}`]),
      ...(row.locked_by === null ? [] : [`while ${row.locked_by} has it`]),
      // What was quarantined after it had stopped is read by nobody.
      ...((mail.has(row.key) && quarantined === 0) || row.ready ? ['while it has mail'] : []),
      ...(child ? [`while its child ${child.row.id} is ${child.row.status}`] : []),
      ...(row.parent === null ? [] : ['before its parent']),
      ...(age !== null && kept >= age ? [] : [`after ${kept} ms, with ${age ?? 'nothing'} in the rule`]),
    ]
  }

  /** What is submitted is a new task, or the one that there is. */
  #born({ id }: NewTask, outcome: SubmitOutcome | undefined): void {
    const { database } = this.#store
    const rows = database.get<{ records: number }>(
      'SELECT count(*) AS records FROM triarch_history WHERE task = (SELECT key FROM triarch_tasks WHERE id = ?)',
      id,
    )
    if (outcome?.created && rows?.records !== 1) this.faults.push(`${id} was born with ${rows?.records} records`)
    if (outcome?.created === false && outcome.heldBy === undefined && rows?.records === 0)
      this.faults.push(`${id} was refused as known, and is not there`)
  }

  /** Whether there is a task of this id, though one was dropped. */
  lives(id: string): boolean {
    return this.#store.database.get('SELECT 1 FROM triarch_tasks WHERE id = ?', id) !== undefined
  }

  /** What should have gone long ago; children go one pruning after their parents. */
  overdue(ages: Readonly<Record<string, number>>): void {
    const { database } = this.#store
    const sql = `
SELECT id, result, updated_at AS at FROM triarch_tasks t WHERE status = 'stopped' AND parent IS NULL AND id NOT GLOB '*~*'
AND NOT EXISTS (SELECT 1 FROM triarch_tasks c WHERE c.parent = t.id)`
    for (const { id, result, at } of database.all<{ id: string; result: string; at: number }>(sql)) {
      const late = this.#world.now - at - (ages[result] ?? Number.POSITIVE_INFINITY)
      if (late > LATE) this.faults.push(`${id} is there ${late} ms after it should have gone`)
    }
  }

  /** Ids that were several tasks' in turn. */
  get reborn(): ReadonlySet<string> {
    const ids = this.dropped.map(({ story }) => story.row.id)
    return new Set(ids.filter((id, index) => this.lives(id) || ids.indexOf(id) < index))
  }

  /** Those of these tasks that had one life only. */
  once<T>(byTask: Readonly<Record<string, T>>): Record<string, T> {
    const { reborn } = this
    return Object.fromEntries(Object.entries(byTask).filter(([id]) => !reborn.has(id)))
  }

  /** All that there was, but for those whose ids are other tasks now, and what services did for them. */
  complete(evidence: Evidence): Evidence {
    if (this.dropped.length === 0) return evidence
    const last = new Map<string, Story>()
    const until = new Map<string, number>()
    for (const { story, at } of this.dropped) {
      const known = last.get(story.row.id)
      if (known) until.set(story.row.id, this.dropped.find((one) => one.story === known)?.at ?? 0)
      last.set(story.row.id, story)
      if (evidence.tasks.some(({ row }) => row.id === story.row.id)) until.set(story.row.id, at)
    }
    for (const { row } of evidence.tasks) last.delete(row.id)
    const tasks = [...last.values(), ...evidence.tasks].map(adopted).sort((a, b) => a.row.key - b.row.key)
    const ledger = evidence.ledger.filter(({ task, at }) => at > (until.get(task) ?? -1))
    const emitted = Object.fromEntries(Object.entries(evidence.emitted).filter(([id]) => !until.has(id)))
    return { ...evidence, tasks, ledger, emitted }
  }
}

/** What poison has spoilt. */
function readable<T>(rows: T[]): T[] {
  return rows.map((row) => {
    const { events } = row as { events?: string }
    return events?.startsWith('?') ? { ...row, events: events.slice(1) } : row
  })
}

/** With the parent that its first record names: it may have been dropped. */
function adopted(story: Story): Story {
  const [event] = story.records[0]?.events ?? []
  const parent = event?.type === 'submitted' ? (event.parent?.task ?? null) : null
  return parent === null ? story : { ...story, row: { ...story.row, parent } }
}
