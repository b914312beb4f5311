import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { Folder } from '../../../tools/site/folder.ts'
import { read } from '../../../tools/site/page.ts'
import { samplesOf } from '../../../tools/site/sample.ts'
import { serverUrl, withClient } from './database.ts'

/** What a program of a page prints, beside all of the page's files, on a database of its own. */
async function run(folder: Folder, program: string, database: string): Promise<string> {
  const url = new URL(serverUrl())
  url.pathname = `/${database}`
  const env = { ...process.env, NO_COLOR: '1', DATABASE_URL: url.href }
  const child = spawn(process.execPath, [program], { cwd: folder.path, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  expect({ status, errors }).toEqual({ status: 0, errors: '' })
  return out
}

it.concurrent.each([
  ['docs/tutorial/8-postgres.md', ['takeover.ts']],
  ['docs/tutorial/9-deployment.md', ['migrate.ts', 'smoke.ts']],
])('%s does on PostgreSQL what it says', async (path, programs) => {
  const page = read(path)
  const database = `tutorial_${process.pid}_${programs.length}`
  using folder = new Folder()
  for (const { file, code } of samplesOf(page).samples) folder.write(file, code)
  await withClient((client) => client.query(`CREATE DATABASE ${database}`))
  try {
    let printed = ''
    for (const program of programs) printed = await run(folder, program, database)
    expect(page.markdown).toContain(`\`\`\`text\n${printed}\`\`\``)
  } finally {
    await withClient((client) => client.query(`DROP DATABASE ${database} WITH (FORCE)`))
  }
})
