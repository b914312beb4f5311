import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { moves } from '../src/kernel/status.ts'

const page = readFileSync(fileURLToPath(new URL('../../../docs/reference/states.md', import.meta.url)), 'utf8')

function movesOf(table: Readonly<Record<string, readonly string[]>>): string {
  const rows = Object.entries(table).filter(([, targets]) => targets.length > 0)
  const lines = rows.map(([from, targets]) => `| \`${from}\` | ${targets.map((to) => `\`${to}\``).join(', ')} |`)
  return ['| from | to |', '| --- | --- |', ...lines].join('\n')
}

describe('the page of states', () => {
  it('shows exactly the moves of the transition table', () => {
    expect(page).toContain(movesOf(moves.task))
    expect(page).toContain(movesOf(moves.step))
  })
})
