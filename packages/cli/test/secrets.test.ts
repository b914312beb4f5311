import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from 'triarch/sqlite'
import { testEngine } from 'triarch/testing'
import { expect, it } from 'vitest'
import { advancing, leaksIn, secrecy, ways } from '../../triarch/test/engine/secrecy.ts'
import { run } from '../src/run.ts'
import { processTerminal } from '../src/terminal.ts'

it('no command prints a secret, whatever way it went, unless it is told to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-secrets-'))
  const path = join(folder, 'shop.db')
  const { workflows, agents, play } = secrecy((mark) => `"q\\${mark}'é\n😀 %41+&<x>"`)
  try {
    await using engine = await testEngine({
      ...{ store: sqlite(path), workflows, agents, operations: true, onError: () => undefined },
    })
    const { triarch } = engine
    await play(triarch, advancing(engine))
    const ids = (await triarch.tasks.list({ limit: 1_000 })).tasks.map(({ id }) => id)
    const ofTask = ['get', 'history', 'steps', 'explain', 'logs', 'children']
    const commands = [
      ...ids.flatMap((id) => [...ofTask.map((command) => ['task', command, id]), ['export', id]]),
      ...['task list', 'operation list', 'operation get operation', 'schedule list', 'schedule get daily', 'audit'],
      ...['alert list', 'statistics', 'stats', 'node list', 'workflow list', 'agent list', 'health', 'doctor'],
    ].map((command) => (typeof command === 'string' ? command.split(' ') : command))
    const said: string[] = []
    const print = async (args: readonly string[]) => {
      said.length = 0
      const say = (text: string) => void said.push(text)
      const terminal = { ...processTerminal(), env: { TRIARCH_STORE: path, HOME: folder }, out: say, err: say }
      await run(args, terminal)
      return said.join('')
    }
    const leaks: Record<string, string[]> = {}
    for (const command of commands)
      for (const args of [command, [...command, '--json']]) {
        const found = leaksIn(await print(args))
        if (found.length > 0) leaks[args.join(' ')] = found
      }
    expect(leaks).toEqual({})
    // Whoever asks for secrets gets them: what is looked for is there to be found.
    const whole = await Promise.all(ids.map((id) => triarch.tasks.get(id).export({ secrets: true })))
    expect(ways.filter((way) => way !== 'schedule' && !leaksIn(JSON.stringify(whole)).includes(way))).toEqual([])
    expect(await print(['task', 'get', 'one', '--json'])).toContain('"id": "one"')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
