import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lineOf } from '../src/progress.ts'
import { pictureOf, type View } from '../src/top/picture.ts'
import { failingOf, NEWEST, ratesOf } from '../src/top/snapshot.ts'
import { main, shop, triarch } from './binary.ts'
import { bank, careful, desk, letter } from './shop.ts'

const folder = mkdtempSync(join(tmpdir(), 'triarch-terminal-'))
const store = join(folder, 'shop.db')
const socket = join(folder, 'tmux')
const noTmux = spawnSync('tmux', ['-V']).error !== undefined && 'tmux is not installed'
const noBash = spawnSync('bash', ['--version']).error !== undefined && 'bash is not installed'
/** A line, and the word that its last one becomes. */
const completions = [
  ['triarch ta', 'task'],
  ['triarch task e', 'explain'],
  ['triarch --store shop.db task wa', 'watch'],
  ['triarch task cancel order-1 --f', '--force'],
  ['triarch operation start --con', '--confirm'],
] as const
let engine: Triarch

const tmux = (...args: string[]) => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' })
const screen = (of: string) => tmux('capture-pane', '-p', '-t', of)
/** In a terminal of this size, in a shell that stays. */
function terminal(name: string, columns: number, lines: number, command: readonly string[]): void {
  const line = command.map((word) => `'${word}'`).join(' ')
  const size = ['-x', String(columns), '-y', String(lines)]
  tmux('-f', '/dev/null', 'new-session', '-d', '-s', name, ...size, `${line}; echo ended with $?; exec cat`)
}

beforeAll(async () => {
  engine = new Triarch({ store: sqlite(store), workflows: [letter, careful], agents: [desk, bank], notices: false })
  await engine.start()
  await (await engine.submit(letter, 'x', { id: 'good' })).result()
  await engine.submit(careful, 'bad', { id: 'held' })
  for await (const { status } of engine.tasks.get('held').watch()) if (status === 'paused') break
  await engine.breakers.get('bank').open({ reason: 'maintenance' })
})
afterAll(async () => {
  if (!noTmux) spawnSync('tmux', ['-S', socket, 'kill-server'])
  await engine.stop({ grace: 0 })
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

describe('a real terminal', () => {
  it('top shows what happens, follows keys and the size, and gives the terminal back', async (test) => {
    if (noTmux) test.skip(noTmux)
    terminal('top', 110, 40, [process.execPath, main, 'top', '--store', store, '--interval', '500ms'])
    await expect.poll(() => screen('top')).toMatch(/^desk +1/m)
    const all = screen('top')
    expect(all).toMatch(/^tasks 2 .*submitted \d/m)
    expect(all).toMatch(/^careful +1 +0 +not a word to stamp/m)
    expect(all).toMatch(/^bank +open/m)
    expect(all).toContain('scheduler agent supervisor')
    await (await engine.submit(letter, 'x', { id: 'later' })).result()
    await expect.poll(() => screen('top')).toMatch(/^tasks 3 /m)
    tmux('send-keys', '-t', 'top', 'b')
    await expect.poll(() => screen('top')).not.toContain('WORKFLOW')
    tmux('send-keys', '-t', 'top', 'o')
    await expect.poll(() => screen('top')).toContain('WORKFLOW')
    tmux('resize-window', '-t', 'top', '-x', '60', '-y', '12')
    await expect.poll(() => screen('top').trimEnd().split('\n').length).toBeLessThanOrEqual(12)
    await expect.poll(() => screen('top')).toMatch(/q quit/)
    tmux('send-keys', '-t', 'top', 'q')
    await expect.poll(() => screen('top')).toContain('ended with 0')
    expect(screen('top')).not.toContain('q quit')
  })

  it('top gives the terminal back when it is told to stop', async (test) => {
    if (noTmux) test.skip(noTmux)
    terminal('end', 80, 24, [process.execPath, main, 'top', '--store', store])
    await expect.poll(() => screen('end')).toMatch(/^desk +1/m)
    tmux('send-keys', '-t', 'end', 'C-c')
    await expect.poll(() => screen('end')).toContain('ended with 0')
  })

  it('top refuses what is no terminal, or a dumb one, and says what to use', async (test) => {
    const piped = await triarch(['top', '--store', store])
    expect(piped).toMatchObject({ exit: 2, out: '', err: expect.stringContaining('top needs a terminal') })
    if (noTmux) test.skip(noTmux)
    terminal('dumb', 100, 10, ['env', 'TERM=dumb', process.execPath, main, 'top', '--store', store])
    await expect.poll(() => screen('dumb')).toContain('ended with 2')
    expect(screen('dumb')).toContain('top needs a terminal')
  })

  it('dev says what happens, and ends with its terminal', async (test) => {
    if (noTmux) test.skip(noTmux)
    const own = join(folder, 'dev.db')
    terminal('dev', 100, 20, [process.execPath, main, 'dev', shop, '--store', own, '--port', '0'])
    await expect.poll(() => screen('dev')).toContain('started with')
    const given = ['--app', shop, '--input', '"x"', '--id', 'd-1', '--wait', '--store', own]
    expect((await triarch(['task', 'start', 'letter', ...given])).exit).toBe(0)
    await expect.poll(() => screen('dev')).toContain('letter d-1 success')
    tmux('send-keys', '-t', 'dev', 'C-c')
    await expect.poll(() => screen('dev')).toMatch(/ended with \d/)
  })

  it('bash completes commands, options, and what follows them', async (test) => {
    if (noBash) test.skip(noBash)
    const script = join(folder, 'completion.bash')
    const made = await triarch(['completion', 'bash'])
    expect(made).toMatchObject({ exit: 0, err: '' })
    writeFileSync(script, made.out)
    const completed = (...words: string[]) => {
      const line = words.map((word) => `'${word}'`).join(' ')
      const program = `source ${script}; COMP_WORDS=(triarch ${line}); COMP_CWORD=${words.length}; _triarch; echo "\${COMPREPLY[@]}"`
      return execFileSync('bash', ['--norc', '-c', program], { encoding: 'utf8', cwd: folder }).trim().split(' ')
    }
    expect(completed('ta')).toEqual(['task'])
    expect(completed('task', 'e')).toEqual(['explain'])
    expect(completed('--store', 'shop.db', 'task', 'wa')).toEqual(['watch'])
    expect(completed('task', 'cancel', 'order-1', '--f')).toEqual(['--force'])
    expect(completed('operation', 'start', '--con')).toEqual(['--confirm'])
    expect(completed('--store', 'shop')).toEqual(expect.arrayContaining(['shop.db']))
    expect((await triarch(['completion', 'tcsh'])).exit).toBe(2)
  })

  it('fish completes the same', async (test) => {
    const script = join(folder, 'completion.fish')
    const { out } = await triarch(['completion', 'fish'])
    writeFileSync(script, out)
    expect(out).toContain("complete -c triarch -n '__triarch_at \\'task\\'' -f -a 'explain'")
    if (spawnSync('fish', ['--version']).error) test.skip('fish is not installed')
    const completed = (line: string) => {
      const program = `source ${script}; complete -C '${line}'`
      const env = { ...process.env, HOME: folder }
      const said = execFileSync('fish', ['--no-config', '-c', program], { encoding: 'utf8', cwd: folder, env })
      return said.split('\n').flatMap((one) => (one === '' ? [] : [one.split('\t')[0]]))
    }
    for (const [line, word] of completions) expect(completed(line)).toEqual([word])
  })

  it('zsh completes the same', async (test) => {
    const { out } = await triarch(['completion', 'zsh'])
    expect(out).toMatch(/^#compdef triarch$/m)
    if (noTmux) test.skip(noTmux)
    if (spawnSync('zsh', ['--version']).error) test.skip('zsh is not installed')
    const script = join(folder, 'completion.zsh')
    writeFileSync(script, `PS1='> '; autoload -U compinit; compinit -u -D\n${out}\nprint is there`)
    terminal('zsh', 120, 20, ['zsh', '-fi'])
    tmux('send-keys', '-t', 'zsh', `source ${script}`, 'Enter')
    await expect.poll(() => screen('zsh')).toMatch(/^is there$/m)
    for (const [line, word] of completions) {
      tmux('send-keys', '-t', 'zsh', line, 'Tab')
      await expect.poll(() => screen('zsh')).toContain(`> ${line.replace(/\S+$/, word)}`)
      tmux('send-keys', '-t', 'zsh', 'C-u')
    }
  })

  it('is coloured for people, and is not where NO_COLOR says so', async (test) => {
    if (noTmux) test.skip(noTmux)
    const list = [process.execPath, main, 'task', 'list', '--store', store]
    terminal('coloured', 100, 10, list)
    terminal('plain', 100, 10, ['env', 'NO_COLOR=1', ...list])
    const styled = (name: string) => tmux('capture-pane', '-e', '-p', '-t', name)
    for (const name of ['coloured', 'plain']) await expect.poll(() => screen(name)).toContain('ended with 0')
    expect(styled('coloured')).toContain('\u001b[1mTASK')
    expect(styled('plain')).toContain('TASK')
    expect(styled('plain')).not.toContain('\u001b[1m')
  })

  it('asks for a key, shows nothing of it, and sends it', async (test) => {
    if (noTmux) test.skip(noTmux)
    const asked: (string | undefined)[] = []
    const server = createServer(({ headers }, response) => {
      asked.push(headers.authorization)
      response
        .writeHead(401, { 'content-type': 'application/problem+json' })
        .end('{"status":401,"code":"UNAUTHORIZED"}')
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    terminal('key', 100, 10, [process.execPath, main, 'node', 'list', '--url', `http://127.0.0.1:${port}`, '--ask-key'])
    await expect.poll(() => screen('key')).toContain('key:')
    tmux('send-keys', '-t', 'key', 's3cret-of-mine', 'Enter')
    await expect.poll(() => screen('key')).toContain('ended with 3')
    expect(screen('key')).not.toContain('s3cret')
    expect(asked).toEqual(['Bearer s3cret-of-mine'])
    server.close()
  })
})

describe('what is drawn', () => {
  const view: View = {
    ...{ columns: 40, lines: 10, colour: false, interval: 2_000, isHeld: false },
    ...{ section: null, scroll: 0, error: null },
  }
  const at = 1_000_000
  const agents = Array.from({ length: 30 }, (_, n) => ({
    ...{ name: `agent-${n}`, actions: [], nodes: [] },
    queue: { depth: n, oldest: { task: 't', step: 1, since: new Date(at - 7_200_000) } },
  }))
  const counts = { tasks: 10_000, ready: 0, work: 0, inbox: 0, truncated: ['tasks'], stale: 0, fenced: 0 } as const
  const snapshot = { at, counts, rates: { submitted: 1, ended: 0.5 }, agents, nodes: [], failing: [], breakers: [] }

  it('fits the screen, however small it is', () => {
    for (const lines of [1, 2, 5, 10, 50])
      for (const columns of [10, 40, 200]) {
        const drawn = pictureOf(snapshot, { ...view, lines, columns, error: 'no answer' })
        expect(drawn).toHaveLength(lines)
        if (columns >= 40) for (const line of drawn) expect(line.length).toBeLessThanOrEqual(columns)
      }
  })

  it('has what waits most first, with its age, and what is a lower bound marked', () => {
    const drawn = pictureOf(snapshot, { ...view, lines: 40, columns: 100 }).join('\n')
    expect(drawn).toMatch(/AGENT.*\nagent-29 +0 +29 +2 h/)
    expect(drawn).toContain('tasks 10000+')
    const scrolled = pictureOf(snapshot, { ...view, section: 'agents', scroll: 3, lines: 40, columns: 100 })
    expect(scrolled.find((line) => line.startsWith('agent-'))).toMatch(/^agent-26/)
    expect(pictureOf(null, { ...view, error: 'STORE_UNAVAILABLE' })[0]).toContain('STORE_UNAVAILABLE')
  })

  it('reckons the throughput of the time that the newest tasks cover', () => {
    const task = (ago: number, status: string) => ({
      ...{ submittedAt: new Date(at - ago), updatedAt: new Date(at - ago), status },
      ...{ workflow: 'w', error: { message: 'broken' } },
    })
    const few = [task(1_000, 'stopped'), task(30_000, 'running'), task(90_000, 'stopped')] as never[]
    expect(ratesOf(few, at)).toEqual({ submitted: 2 / 60, ended: 1 / 60 })
    const many = Array.from({ length: NEWEST }, (_, n) => task(n * 50, 'stopped')) as never[]
    expect(ratesOf(many, at).submitted).toBeCloseTo(20, 0)
    expect(failingOf(few, [...few, task(4_000_000, 'stopped') as never], at)).toEqual([
      { workflow: 'w', paused: 3, failed: 3, error: 'broken' },
    ])
  })

  it('shows how far something is as far as anybody knows', () => {
    expect(lineOf('op-1', { done: 25, total: 100 }, 2_500, 80)).toBe('op-1 [######------------------] 25% 25/100 2 s')
    expect(lineOf('op-1', null, 61_000, 80)).toBe('op-1 61 s')
    expect(lineOf('looking', { done: 3_000, total: null }, 4_000, 80)).toBe('looking 3000 4 s')
    expect(lineOf('op-1', { done: 1, total: 2 }, 1_000, 10)).toHaveLength(10)
  })
})
