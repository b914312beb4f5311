import type { PollRequest, PollResult } from '../port.ts'
import type { Database } from './database.ts'
import { SETTINGS_MARK } from './setting.ts'

const LOOK = `
SELECT
  EXISTS (SELECT 1 FROM triarch_inbox WHERE owner = ?1) AS mail,
  EXISTS (SELECT 1 FROM triarch_tasks WHERE wake_at <= ?2)
    OR EXISTS (SELECT 1 FROM triarch_tasks WHERE control = 1)
    OR EXISTS (SELECT 1 FROM json_each(?3) w WHERE EXISTS (SELECT 1 FROM triarch_tasks
      WHERE ready = 1 AND workflow = w.value ->> 'workflow' AND version = w.value ->> 'version')) AS tasks,
  EXISTS (SELECT 1 FROM json_each(?4) a WHERE EXISTS (SELECT 1 FROM triarch_work
    WHERE locked_by IS NULL AND agent = substr(a.value, 1, instr(a.value, '.') - 1) AND action = a.value)) AS work,
  (SELECT holder FROM triarch_leases WHERE name = ?5 AND until > ?2) AS leader,
  (SELECT count(*) FROM triarch_nodes WHERE dead = 0) AS living,
  (SELECT wake_at FROM triarch_tasks WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1) AS nextWake,
  ${SETTINGS_MARK} AS settings,
  EXISTS (SELECT 1 FROM triarch_breakers WHERE kind = 'rest') AS rests`

interface PollRow {
  mail: number
  tasks: number
  work: number
  leader: string | null
  living: number
  nextWake: number | null
  settings: string
  rests: number
}

export function poll(database: Database, now: number, { node, runnable, actions, lease }: PollRequest): PollResult {
  const row = database.get<PollRow>(
    LOOK,
    node,
    now,
    JSON.stringify(runnable),
    JSON.stringify(actions),
    lease,
  ) as PollRow
  const { mail, tasks, work, leader, living, nextWake, settings, rests } = row
  const mine = leader === null || leader === node
  return {
    ...{ now, mail: mail === 1, tasks: tasks === 1, work: work === 1, vacant: leader === null, living },
    nextWake: mine ? nextWake : null,
    settings,
    rests: rests === 1,
  }
}
