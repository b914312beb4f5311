/** A value of a setting in the store, and who set it. */
export interface SettingVersion {
  /** The number of the change that set it. */
  version: number
  /** The value as it was given; it overrides the layers below. */
  value: unknown
  at: number
  by: string
  reason: string
}

/** One stage of a canary rollout: the nodes on which a value is tried. */
export interface SettingStage {
  /** Share of the live nodes, rounded up; null: nodes are chosen by labels alone. */
  share: number | null
  /** Only nodes that have all of these labels. */
  labels: Readonly<Record<string, string>>
  /** Time after which the next stage begins, or the value applies everywhere (ms); null: an operator advances it. */
  lasts: number | null
}

/** A measure that must not get worse on the nodes of the canary. */
export type SettingGuard =
  | { metric: 'failure-rate'; agent: string; above: number; minimum: number }
  | { metric: 'queue-age'; agent: string; above: number }

/** A value in a canary rollout. */
export interface SettingTrial {
  candidate: SettingVersion
  stages: readonly SettingStage[]
  /** Index of the present stage. */
  at: number
  /** When the stage began (ms since the epoch). */
  since: number
  /** The ids of the nodes of the share; null: nodes are chosen by labels alone. */
  nodes: readonly string[] | null
  guards: readonly SettingGuard[]
}

/** The stored state of one setting. */
export interface SettingState {
  live: SettingVersion | null
  trial: SettingTrial | null
}

/** A node that reads the setting. */
export interface SettingReader {
  id: string
  labels: Readonly<Record<string, string>>
}

export const NEW_SETTING: SettingState = { live: null, trial: null }

/** The version that applies to this node; null: the store has none. A reader that is no node gets no canary value. */
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

/**
 * Sets a value: it begins in the first stage, or applies everywhere at once if there are no stages. It replaces a value in a canary
 * rollout.
 */
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

/** Advances the canary to its next stage, or everywhere. */
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

/** When the next stage is due; null: it does not begin by itself. */
export function dueOf({ stages, at, since }: SettingTrial): number | null {
  const lasts = stages[at]?.lasts ?? null
  return lasts === null ? null : since + lasts
}

/** Withdraws the value of a canary rollout. */
export function withdrawn({ live }: SettingState): SettingState {
  return { live, trial: null }
}

/**
 * Chooses the nodes of a share: live nodes that have the value already, then others up to the number, in an order that differs for each
 * version. Returns the same trial if the nodes are the same.
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

/** FNV-1a, 32 bits. It gives an arbitrary order that is the same on every node. */
function lot(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0
  return hash
}

/** Attempts of an agent that ended on one node since the node runs the canary value. */
export interface SettingSample {
  ended: number
  failed: number
}

/** Why the canary value must be withdrawn; null: it need not. */
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
