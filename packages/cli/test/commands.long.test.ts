// Each command of `triarch --help`, in a process of its own, on a store with something of everything.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exitCodes } from '../src/exit.ts'
import { programOf } from '../src/program.ts'
import { run } from '../src/run.ts'
import { processTerminal } from '../src/terminal.ts'
import { triarch } from './binary.ts'
import { chainsOn, endless, stock } from './chains.ts'
import * as definitions from './shop.ts'

const folder = mkdtempSync(join(tmpdir(), 'triarch-commands-'))
const store = join(folder, 'shop.db')
const exported = join(folder, 'done.json')
const chains = chainsOn(folder, store, exported)
const env = { TRIARCH_STORE: store, XDG_CONFIG_HOME: folder, HOME: folder, TRIARCH_ACTOR: 'ada' }
const { letter, approval, careful, desk, bank } = definitions
let engine: Triarch

beforeAll(async () => {
  const workflows = [letter, approval, careful]
  engine = new Triarch({ store: sqlite(store), workflows, agents: [desk, bank], operations: true, notices: false })
  await engine.start()
  await stock(engine)
})
afterAll(async () => {
  await engine.stop({ grace: 0 })
  rmSync(folder, { recursive: true, force: true })
})

it.concurrent.each(chains.map((chain) => [chain[0]?.[0].split(' ')[0] ?? '', chain] as const))(
  'the commands from "%s" on do what they say, as processes of their own',
  async (_, chain) => {
    const wrong: unknown[] = []
    for (const [command, given, said, exit = 0] of chain) {
      const ended = await triarch([...command.split(' '), ...given], env)
      if (ended.exit !== exit || !said.test(ended.out) || (exit === 0 && ended.err !== '')) wrong.push([command, ended])
    }
    expect(wrong).toEqual([])
  },
)

it('each command of the runbook is understood, with something in place of its capitals', async () => {
  const page = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8')
  const spans = [...page.matchAll(/`triarch ([^`]+)`/g)].map(([, line = '']) => line)
  const given: Readonly<Record<string, string>> = {
    ID: 'd',
    STEP: '1',
    NAME: 'none',
    HOST: 'none',
    AGENT: 'none',
    TEXT: 'a test',
  }
  const asks = ['skip', 'end', 'start', 'cancel', 'compensate']
  const wrong: unknown[] = []
  for (const line of new Set(spans)) {
    const words = (line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll(/^["']|["']$/g, ''))
    const args = words.map((word) =>
      word.replace('RULE:SUBJECT', 'none:none').replaceAll(/\b[A-Z]+\b/g, (name) => given[name] ?? name),
    )
    // In this process: what the commands do when they are processes of their own is the business of the chains above.
    const said: string[] = []
    const terminal = { ...processTerminal(), env, out: () => undefined, err: (text: string) => void said.push(text) }
    const exit = await run([...args, ...(asks.includes(args[1] ?? '') ? ['--yes'] : [])], terminal)
    const left = args.some((word) => /^[A-Z]{2,}$/.test(word))
    if (left || exit === exitCodes.usage || exit === exitCodes.unavailable) wrong.push([line, exit, said])
  }
  expect(spans.length).toBeGreaterThan(20)
  expect(wrong).toEqual([])
})

it('none is left out', () => {
  const leaves = (command: Command, path: readonly string[]): string[] =>
    command.commands.length === 0
      ? [path.join(' ')]
      : command.commands.flatMap((one) => leaves(one, [...path, one.name()]))
  const all = leaves(
    programOf(processTerminal(), () => undefined),
    [],
  )
  expect([...chains.flat().map(([command]) => command), ...endless].sort()).toEqual(all.sort())
})
