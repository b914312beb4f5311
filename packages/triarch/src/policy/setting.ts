/** A value that the store has, and who brought it. */
export interface SettingVersion {
  /** The number of the change that brought it. */
  version: number
  /** As it was given: laid over the layers below. */
  value: unknown
  at: number
  by: string
  reason: string
}

/** Where a value is tried before it is everywhere. */
export interface SettingStage {
  /** Of the nodes that live, rounded up; null: by labels alone. */
  share: number | null
  /** Only nodes that have all of these. */
  labels: Readonly<Record<string, string>>
  /** After so long the next stage begins, or it is everywhere (ms); null: by hand. */
  lasts: number | null
}

/** What must not become worse on the nodes that try it. */
export type SettingGuard =
  | { metric: 'failure-rate'; agent: string; above: number; minimum: number }
  | { metric: 'queue-age'; agent: string; above: number }

/** A value on trial. */
export interface SettingTrial {
  candidate: SettingVersion
  stages: readonly SettingStage[]
  /** Which of them it is in. */
  at: number
  /** When that began (ms since the epoch). */
  since: number
  /** The nodes of a share, by name; null: by labels alone. */
  nodes: readonly string[] | null
  guards: readonly SettingGuard[]
}

/** What the store has of one setting. */
export interface SettingState {
  live: SettingVersion | null
  trial: SettingTrial | null
}

/** Somebody who reads it. */
export interface SettingReader {
  id: string
  labels: Readonly<Record<string, string>>
}

export const NEW_SETTING: SettingState = { live: null, trial: null }

/** What this node is to run; null: the store says nothing. Who is no node tries nothing. */
export function versionFor({ live, trial }: SettingState, reader: SettingReader | null): SettingVersion | null {
  return trial && reader && tries(trial, reader) ? trial.candidate : live
}

export function tries({ stages, at, nodes }: SettingTrial, { id, labels }: SettingReader): boolean {
  const stage = stages[at]
  return stage !== undefined && fits(stage, labels) && (nodes === null || nodes.includes(id))
}

function fits(stage: SettingStage, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(stage.labels).every(([name, value]) => labels[name] === value)
}

/** A value begins in the first of these stages; everywhere at once where there are none. One that was on trial is no more. */
export function proposed(
  state: SettingState,
  candidate: SettingVersion,
  { stages, guards }: Pick<SettingTrial, 'stages' | 'guards'>,
  living: readonly SettingReader[],
): SettingState {
  if (stages.length === 0) return { live: candidate, trial: null }
  const trial = { candidate, stages, at: 0, since: candidate.at, nodes: null, guards }
  return { live: state.live, trial: placed(trial, living) }
}

/** The next stage, or everywhere. */
export function advanced(
  state: SettingState,
  now: number,
  living: readonly SettingReader[],
  all = false,
): SettingState {
  const { trial } = state
  if (!trial) return state
  if (all || trial.at + 1 >= trial.stages.length) return { live: trial.candidate, trial: null }
  return { live: state.live, trial: placed({ ...trial, at: trial.at + 1, since: now }, living) }
}

/** When the next stage is due; null: not by itself. */
export function dueOf({ stages, at, since }: SettingTrial): number | null {
  const lasts = stages[at]?.lasts ?? null
  return lasts === null ? null : since + lasts
}

/** The value on trial is taken back. */
export function withdrawn({ live }: SettingState): SettingState {
  return { live, trial: null }
}

/**
 * Names the nodes of a share: those that have it already and live, and others up to the number, in an order that is another for each
 * version. The same trial, if they are the same.
 */
export function placed(trial: SettingTrial, living: readonly SettingReader[]): SettingTrial {
  const stage = trial.stages[trial.at]
  if (!stage || stage.share === null) return trial.nodes === null ? trial : { ...trial, nodes: null }
  const able = living.filter(({ labels }) => fits(stage, labels)).map(({ id }) => id)
  const most = Math.ceil(stage.share * able.length)
  const had = new Set(trial.nodes ?? [])
  const rank = (id: string) => lot(`${trial.candidate.version} ${id}`)
  const order = able.sort((a, b) => Number(had.has(b)) - Number(had.has(a)) || rank(a) - rank(b) || (a < b ? -1 : 1))
  const nodes = order.slice(0, most).sort()
  const same = trial.nodes !== null && trial.nodes.length === nodes.length && nodes.every((id) => had.has(id))
  return same ? trial : { ...trial, nodes }
}

/** FNV-1a, 32 bits: which nodes come first has no meaning, and everybody comes to the same. */
function lot(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0
  return hash
}

/** Attempts of an agent that ended on one node since it tries a value. */
export interface SettingSample {
  ended: number
  failed: number
}

/** Why a value on trial is to be taken back; null: it is not. */
export function worsened(guard: SettingGuard, seen: { sample: SettingSample; queueAge: number }): string | null {
  const { agent, above } = guard
  if (guard.metric === 'queue-age')
    return seen.queueAge > above
      ? `work has waited for agent ${agent} for ${seen.queueAge} ms, above ${above} ms`
      : null
  const { ended, failed } = seen.sample
  if (ended < guard.minimum || failed / ended <= above) return null
  const share = (rate: number) => `${Math.round(rate * 1000) / 10} %`
  return `${share(failed / ended)} of ${ended} attempts of agent ${agent} failed, above ${share(above)}`
}
