import type { Machine } from '../machine.ts'
import { aligned, machineLine, text } from '../report.ts'
import type { Found } from './rounds.ts'
import { workloads } from './workload.ts'

const OURS = 'triarch-'
/** Cores that others may keep busy without a word about it. */
const QUIET = 0.25

/** What was found, how each system was set, and how much else the machine had to do. */
export function report(found: readonly Found[], about: Machine): string {
  const parts = [machineLine(about), table(found), settings(found), disturbance(found)]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** By workload: what each system does, and how many times as fast as it Triarch is. */
export function table(found: readonly Found[]): string {
  const ours = found.filter(({ system, missing }) => system.name.startsWith(OURS) && missing === undefined)
  const heads = ['workload', 'figure', 'system', 'value', ...ours.map(({ system }) => system.title), 'rounds']
  const rows = workloads.flatMap(({ name, finds }) =>
    finds.flatMap(({ what, unit, better }, nth) =>
      found.map(({ system, medians, rounds, missing }, index) => {
        const first = index === 0
        const front = [first && nth === 0 ? name : '', first ? what : '', system.title]
        const value = medians[name]?.[what] ?? Number.NaN
        if (missing !== undefined || Number.isNaN(value)) return [...front, '–', ...ours.map(() => ''), missing ?? '']
        const ratios = ours.map((our) => {
          const own = our.medians[name]?.[what] ?? Number.NaN
          const ratio = better === 'higher' ? own / value : value / own
          return system.name.startsWith(OURS) || !Number.isFinite(ratio) ? '' : `${text(ratio)} ×`
        })
        const each = rounds[name]?.map(({ figures }) => text(figures[what] ?? Number.NaN)).join(', ')
        return [...front, `${text(value)} ${unit}`, ...ratios, each ?? '']
      }),
    ),
  )
  return aligned(heads, rows, new Set([3, ...ours.map((_, index) => 4 + index)]))
}

function settings(found: readonly Found[]): string {
  const lines = found.map(({ system: { title, packages, settings, less } }) => {
    const versions = Object.entries(packages).map(([name, version]) => `${name} ${version}`)
    return `${[title, ...versions].join(', ')}: ${settings}${less === undefined ? '' : `\n  ${less}`}`
  })
  return [
    'PostgreSQL: fsync, full_page_writes and synchronous_commit on, one server for all, the files of its log in place',
    ...lines,
  ].join('\n')
}

function disturbance(found: readonly Found[]): string {
  const others = found.flatMap(({ rounds }) => Object.values(rounds).flat()).map(({ others }) => others)
  const mean = others.reduce((sum, value) => sum + value, 0) / others.length
  if (!(mean > QUIET)) return ''
  return `Cores busy with other processes meanwhile, ${mean.toFixed(1)} on average (${Math.max(...others).toFixed(1)} at most): compare within this table only`
}
