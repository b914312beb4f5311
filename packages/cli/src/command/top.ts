import type { Command } from 'commander'
import { duration } from '../argument.ts'
import { type CommandDeps, onTasks } from '../command.ts'
import { now, timer } from '../environment.ts'
import { endOf, usage } from '../exit.ts'
import type { Screen } from '../screen.ts'
import { cell } from '../table.ts'
import { pictureOf, type Section, type View } from '../top/picture.ts'
import { type Snapshot, snapshotOf } from '../top/snapshot.ts'

const SHORTEST = 500
const LONGEST = 60_000

/** What happens now, on a screen of its own. */
export function addTop(program: Command, means: CommandDeps): void {
  program
    .command('top')
    .description('a live view: throughput, what waits for agents, nodes, workflows that fail, breakers; q ends it')
    .option('--interval <duration>', 'between two looks: 500ms to 1m', duration('--interval'), 2_000)
    .action((_, command: Command) =>
      onTasks<{ interval: number }>(means, command, async ({ session, report, options: { interval } }) => {
        if (report.isData)
          throw usage('top is for people: for data, triarch stats --json, agent list --json, and so on')
        if (!(interval >= SHORTEST && interval <= LONGEST)) throw usage('--interval: give 500ms to 1m')
        const { terminal } = means
        const screen = terminal.screen()
        if (screen === null)
          throw usage('top needs a terminal that can be drawn on: elsewhere, triarch stats, agent list, node list')
        try {
          await show(screen, terminal.colour, interval, () => snapshotOf(session.triarch, now))
        } finally {
          screen.close()
        }
      }),
    )
}

/** Until somebody ends it. A look that fails is told of, and the next one is made. */
async function show(screen: Screen, colour: boolean, interval: number, look: () => Promise<Snapshot>): Promise<void> {
  const view: View = { ...screen.size(), colour, interval, isHeld: false, section: null, scroll: 0, error: null }
  let snapshot: Snapshot | null = null
  let wake = (): void => undefined
  let isOver = false
  const draw = () => screen.draw(pictureOf(snapshot, Object.assign(view, screen.size())))
  const end = () => {
    isOver = true
    wake()
  }
  const keys: Readonly<Record<string, () => void>> = {
    ...{ q: end, '\u0003': end },
    p: () => {
      view.isHeld = !view.isHeld
      wake()
    },
    r: () => wake(),
    '+': () => pace(view.interval * 2),
    '-': () => pace(view.interval / 2),
    ...{ a: () => only('agents'), n: () => only('nodes'), f: () => only('failing'), b: () => only('breakers') },
    ...{ o: () => only(null), '\u001b': () => only(null) },
    ...{ j: () => scroll(1), k: () => scroll(-1), '\u001b[B': () => scroll(1), '\u001b[A': () => scroll(-1) },
  }
  const pace = (wanted: number) => {
    view.interval = Math.min(LONGEST, Math.max(SHORTEST, wanted))
  }
  const only = (section: Section | null) => Object.assign(view, { section, scroll: 0 })
  const scroll = (by: number) => {
    view.scroll = Math.max(0, view.scroll + by)
  }
  screen.onKey((key) => {
    keys[key]?.()
    if (!isOver) draw()
  })
  screen.onResize(draw)
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.once(signal, end)
  try {
    draw()
    while (!isOver) {
      const { promise, resolve } = Promise.withResolvers<void>()
      // A key that comes while it looks is not lost: it wakes what comes next.
      wake = resolve
      try {
        snapshot = await Promise.race([look(), ended(promise, () => isOver, snapshot)])
        view.error = null
      } catch (error) {
        view.error = cell(endOf(error).line)
      }
      if (isOver) return
      draw()
      const stop = timer(view.isHeld ? 2 ** 31 - 1 : view.interval, resolve)
      await promise
      stop()
    }
  } finally {
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.off(signal, end)
  }
}

/** Whoever leaves does not wait for a store that does not answer. */
async function ended(woken: Promise<void>, isOver: () => boolean, last: Snapshot | null): Promise<Snapshot | null> {
  await woken
  return isOver() ? last : new Promise<never>(() => undefined)
}
