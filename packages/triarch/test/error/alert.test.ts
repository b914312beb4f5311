import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { codedAlert } from '../../src/client/listeners.ts'

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8')

it('every code of an alert has its line in the docs, and no line is about another', () => {
  const [, declared = ''] = /type AlertCode =([^/]*)/.exec(read('../../src/kernel/alert.ts')) ?? []
  const codes = [...declared.matchAll(/'([A-Z_]+)'/g)].map(([, code]) => code)
  const rows = [...read('../../../../docs/reference/alerts.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(
    ([, code]) => code,
  )
  expect(codes.length).toBeGreaterThan(10)
  expect(rows.sort()).toEqual(codes.sort())
})

it('an alert keeps the code it was raised with; without one it is about a step, or a paused task', () => {
  const raised = { task: 't', cause: 'x', message: 'm' }
  expect(codedAlert({ ...raised, code: 'TASK_QUARANTINED', step: 1 }).code).toBe('TASK_QUARANTINED')
  expect(codedAlert({ ...raised, step: 1 }).code).toBe('STEP_HELD')
  expect(codedAlert(raised).code).toBe('TASK_PAUSED')
})
