import type { Command } from 'commander'
import type { SettingChange, SettingGuard, SettingHandle, SettingInfo, SettingStageOptions } from 'triarch'
import { actorOf } from '../actor.ts'
import { json, whole } from '../argument.ts'
import { appFor, type CommandDeps, onTasks } from '../command.ts'
import { exitCodes, Failure, usage } from '../exit.ts'
import { everyPage } from '../pages.ts'
import type { Report } from '../report.ts'
import type { Column } from '../table.ts'

/** Changes of one page. */
const PAGE = 1_000

const columns: readonly Column<SettingInfo>[] = [
  ['SETTING', ({ name }) => name],
  ['VERSION', ({ live }) => live?.version],
  ['ORIGIN', ({ here }) => here?.origin],
  ['NODES', ({ nodes, drift }) => `${nodes.length}${drift ? ' (drift)' : ''}`],
  ['TRIAL', ({ trial }) => trial && `version ${trial.version}, stage ${trial.stage} of ${trial.stages}`],
  ['VALUE', ({ here, live }) => here?.value ?? live?.value],
]
const moves: readonly Column<SettingChange>[] = [
  ['REVISION', ({ revision }) => revision],
  ['AT', ({ at }) => at],
  ['MOVE', ({ move }) => move],
  ['VERSION', ({ version }) => version],
  ['ACTOR', ({ actor }) => actor],
  ['REASON', ({ reason }) => reason],
  ['VALUE', ({ value }) => value],
]

interface Word {
  reason: string
  actor?: string
  expected?: number
  app?: string
}

type AnySettingHandle = SettingHandle<Record<string, unknown>>

/** Values that all nodes share. */
export function addSettings(settings: Command, means: CommandDeps): void {
  settings
    .command('list')
    .description('settings by name')
    .action((_, command: Command) =>
      onTasks(means, command, async ({ session, report }) => {
        const found = await everyPage<SettingInfo>(report, async (page) => {
          const { settings: rows, next } = await session.triarch.settings.list({ limit: PAGE, ...page })
          return { rows, next }
        })
        report.rows(columns, found, 'no setting')
      }),
    )

  const one = (name: string, description: string) =>
    settings.command(name).description(description).argument('<name>', 'the name of the setting')
  const change = (name: string, description: string) =>
    one(name, description)
      .requiredOption('--reason <text>', 'kept with the change')
      .option('--actor <who>', 'who wants it; TRIARCH_ACTOR, else the user of this process (USER)')
      .option('--expected <revision>', 'only while it is at this revision', whole('--expected', 0, 2 ** 53 - 1))
      .option('--app <module>', 'on a store: the module that exports the setting, unless it is the engine’s own')
  const act = <O extends Word>(
    command: Command,
    work: (handle: AnySettingHandle, options: O, word: Omit<Word, 'app'>) => Promise<SettingInfo>,
  ) =>
    command.action(async (...given: unknown[]) => {
      const own = given.at(-1) as Command
      const { app } = own.opts<O>()
      const known = app === undefined ? undefined : await appFor(app)
      await onTasks<O>(
        means,
        own,
        async ({ session, report, options }) => {
          const { reason, actor = actorOf(means.terminal), expected } = options
          const word = { reason, ...(actor && { actor }), ...(expected !== undefined && { expected }) }
          const handle = session.triarch.settings.get<Record<string, unknown>>(own.args[0] ?? '')
          show(report, await work(handle, options, word))
        },
        known,
      )
    })

  one('get', 'a setting as it stands: its value, where that is from, who runs which version').action(
    (name: string, _, command: Command) =>
      onTasks(means, command, async ({ session, report }) =>
        show(report, await session.triarch.settings.get(name).info()),
      ),
  )

  const set = change('set', 'what the store says from now on: everywhere, or on some nodes first')
    .argument('[value]', 'JSON, @file or - for the standard input')
    .option('--part', 'only these properties are others; null: the store says nothing of that one any more')
    .option('--clear', 'the store says nothing any more: what code and environment say counts')
    .option('--stage <spec>', 'where it is tried first, one after the other: share=0.1,lasts=10m,label.zone=eu', many)
    .option('--guard <spec>', 'what takes it back: metric=failure-rate,agent=bank,above=0.2,minimum=20', many)
  act<Word & SettingFlags>(set, async (handle, { part, clear, stage, guard }, word) => {
    const given = set.args[1]
    if (clear ? given !== undefined || part || stage || guard : given === undefined)
      throw usage('give a value, or --clear without one')
    if (given === undefined) return handle.clear(word)
    const value = await json('the value', given, means.terminal)
    const terms = {
      ...word,
      ...(stage && { stages: stage.map(stageOf) }),
      ...(guard && { guards: guard.map(guardOf) }),
    }
    if (!part) return handle.set(value as Record<string, unknown>, terms)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw usage('--part: give a JSON object')
    return handle.change(value, terms)
  })

  const rollout = change('rollout', 'a value on trial goes on to the next stage').option('--all', 'everywhere at once')
  act<Word & { all?: boolean }>(rollout, (handle, { all }, word) => handle.advance({ ...word, ...(all && { all }) }))

  const rollback = change('rollback', 'a value on trial is taken back, or the one before counts again').option(
    '--to <version>',
    'that of this version',
    whole('--to', 1, 2 ** 53 - 1),
  )
  act<Word & { to?: number }>(rollback, (handle, { to }, word) =>
    handle.rollback({ ...word, ...(to !== undefined && { to }) }),
  )

  one('history', 'what was done to it, the last first')
    .option('--limit <n>', 'how many changes: 1 to 1,000', whole('--limit', 1, PAGE), 50)
    .action((name: string, _, command: Command) =>
      onTasks<{ limit: number }>(means, command, async ({ session, report, options: { limit } }) => {
        const { changes } = await session.triarch.settings.get(name).history({ limit })
        report.rows(moves, changes, 'it was never changed')
      }),
    )

  one('diff', 'what is another in one version than in an earlier one, property by property')
    .argument('[from]', 'the earlier version; the one before', whole('from', 1, 2 ** 53 - 1))
    .argument('[to]', 'the later one; the last', whole('to', 1, 2 ** 53 - 1))
    .action((name: string, from: number | undefined, to: number | undefined, _, command: Command) =>
      onTasks(means, command, async ({ session, report }) => {
        const versions = await versionsOf(session.triarch.settings.get(name), from)
        const at = to === undefined ? 0 : versions.findIndex(({ revision }) => revision === to)
        const later = versions[at]
        const earlier = from === undefined ? versions[at + 1] : versions.find(({ revision }) => revision === from)
        const lost = (from !== undefined && !earlier) || !later
        if (lost) throw new Failure(exitCodes.absent, 'UNKNOWN_SETTING', `setting "${name}" has no such version`)
        const rows = differences(earlier?.value, later.value)
        report.rows(
          [
            ['PROPERTY', ({ property }) => property],
            [`VERSION ${earlier?.version ?? 0}`, ({ before }) => before],
            [`VERSION ${later.version}`, ({ after }) => after],
          ],
          rows,
          'no difference',
        )
      }),
    )
}

interface SettingFlags {
  part?: boolean
  clear?: boolean
  stage?: string[]
  guard?: string[]
}

function many(text: string, before: string[] = []): string[] {
  return [...before, text]
}

/** `name=value,name=value`. */
function termsOf(name: string, text: string): [string, string][] {
  return text.split(',').map((term) => {
    const at = term.indexOf('=')
    if (at < 1) throw usage(`${name}: give name=value, with commas between`)
    return [term.slice(0, at), term.slice(at + 1)]
  })
}

function stageOf(text: string): SettingStageOptions {
  const labels: Record<string, string> = {}
  const stage: Record<string, unknown> = {}
  for (const [name, value] of termsOf('--stage', text))
    if (name.startsWith('label.')) labels[name.slice('label.'.length)] = value
    else stage[name] = name === 'share' ? Number(value) : value
  return { ...stage, ...(Object.keys(labels).length > 0 && { labels }) }
}

/** What it makes no sense of is refused by the engine. */
function guardOf(text: string): SettingGuard {
  const numbers = ['above', 'minimum']
  const terms = termsOf('--guard', text).map(([name, value]) => [name, numbers.includes(name) ? Number(value) : value])
  return Object.fromEntries(terms) as SettingGuard
}

/** Changes that brought a value, the last first: down to the one before this version. */
async function versionsOf(handle: SettingHandle, from: number | undefined): Promise<SettingChange[]> {
  const found: SettingChange[] = []
  let cursor: number | undefined
  do {
    const page = await handle.history({ limit: PAGE, ...(cursor !== undefined && { cursor }) })
    found.push(...page.changes.filter((change) => 'value' in change))
    cursor = page.next
  } while (cursor !== undefined && (from === undefined ? found.length < 2 : cursor > from))
  return found
}

interface Difference {
  property: string
  before: unknown
  after: unknown
}

/** Of objects property by property; of anything else, the whole. */
export function differences(before: unknown, after: unknown): Difference[] {
  const [one, other] = [membersOf(before), membersOf(after)]
  return [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .sort()
    .map((property) => ({ property, before: one[property], after: other[property] }))
    .filter((it) => JSON.stringify(it.before) !== JSON.stringify(it.after))
}

function membersOf(value: unknown): Record<string, unknown> {
  if (value === undefined) return {}
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : { '(value)': value }
}

function show(report: Report, found: SettingInfo): void {
  const { name, revision, live, trial, here, nodes, drift } = found
  const versions = Map.groupBy(nodes, ({ version }) => version)
  report.one(found, {
    ...{ setting: name, revision, value: here?.value ?? live?.value, origin: here?.origin },
    ...{ origins: here && Object.keys(here.origins).length > 0 ? here.origins : undefined },
    ...Object.fromEntries((here?.layers ?? []).map(({ origin, value }) => [`says ${origin}`, value])),
    ...{ live: live && `version ${live.version} by ${live.actor}: ${live.reason}` },
    trial:
      trial && `version ${trial.version} by ${trial.actor}, stage ${trial.stage} of ${trial.stages}: ${trial.reason}`,
    nodes: [...versions].map(([version, of]) => `${of.length} run version ${version}`).join(', ') || 'none',
    drift: drift || undefined,
  })
}
