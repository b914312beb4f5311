import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { moves } from '../src/kernel/status.ts'

const page = readFileSync(fileURLToPath(new URL('../../../docs/reference/states.md', import.meta.url)), 'utf8')

function diagram(table: Readonly<Record<string, readonly string[]>>): string {
  const lines = Object.entries(table).flatMap(([from, targets]) => targets.map((to) => `  ${from} --> ${to}`))
  return ['```mermaid', 'stateDiagram-v2', ...lines, '```'].join('\n')
}

describe('the page of states', () => {
  it('shows exactly the moves of the transition table', () => {
    expect(page).toContain(diagram(moves.task))
    expect(page).toContain(diagram(moves.step))
  })
})
