import type { ImportedTask } from 'triarch/store'
import { integers, texts } from './arrays.ts'
import { withAct } from './audit.ts'
import { tagsText } from './submit.ts'

/** Inserts the task, its history and its tags, and sets it as the parent of the tasks that it started. */
const STEPS = `
made AS (
  INSERT INTO triarch.tasks AS t (id, workflow, version, priority, status, result, failures, epoch, ready, control, orphaned, wake_at,
    deadline, base_seq, submitted_at, updated_at, parent, parent_step, tags, progress, output, error, pause)
  VALUES ($2, $3, $4, $5, $6, $7, $8, 0, $9, false, $10, NULL, $11, $12, $13, triarch.clock($1),
    (SELECT p.id FROM triarch.tasks p WHERE p.id = $14), $15, $16, $17, $18, $19, $20)
  ON CONFLICT (id) DO NOTHING RETURNING t.key, t.id),
recorded AS (
  INSERT INTO triarch.history (task, seq, at, events)
  SELECT made.key, r.seq, r.at, r.events FROM made, unnest($21::bigint[], $22::bigint[], $23::text[]) AS r (seq, at, events)),
tagged AS (
  INSERT INTO triarch.tags (name, value, task)
  SELECT g.name, g.value, made.key FROM made, unnest($24::text[], $25::text[]) AS g (name, value)),
adopted AS (
  UPDATE triarch.tasks c SET parent = made.id FROM made, unnest($26::text[], $27::bigint[]) AS g (task, step)
  WHERE c.id = g.task AND c.parent IS NULL AND c.parent_step = g.step)`
const MADE = 'SELECT key FROM made'

export const IMPORT_TASK: string = `WITH ${STEPS} ${MADE}`
export const IMPORT_TASK_ACT: string = withAct(MADE, 27, 'true', STEPS)

/** Returns the parameters of these statements except the clock. */
export function importValues(task: ImportedTask): unknown[] {
  const { id, workflow, version, priority, at, base, ready, orphaned, parent, parentStep, snapshot } = task
  const { status, result, failures, deadline, progress, output, error, pause } = snapshot
  const tags = Object.entries(task.tags)
  return [
    ...[id, workflow, version, priority, status, result, failures, ready, orphaned, deadline, base, at],
    ...[parent, parentStep ?? null, tagsText(task), progress, output, error, pause],
    integers(task.records, ({ seq }) => seq),
    integers(task.records, ({ at }) => at),
    texts(task.records, ({ events }) => events),
    texts(tags, ([name]) => name),
    texts(tags, ([, value]) => value),
    texts(task.children, (child) => child.task),
    integers(task.children, ({ step }) => step),
  ]
}
