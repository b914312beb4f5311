import { createInterface } from 'node:readline/promises'
import { templates } from './templates.ts'

/** Which template; the first where nobody is there to ask. */
export async function ask(): Promise<string> {
  const names = Object.keys(templates)
  const [first = ''] = names
  if (!process.stdin.isTTY || !process.stderr.isTTY) return first
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    for (const [name, { about }] of Object.entries(templates)) process.stderr.write(`  ${name.padEnd(10)} ${about}\n`)
    return (await lines.question(`template (${first}): `)).trim() || first
  } finally {
    lines.close()
  }
}
