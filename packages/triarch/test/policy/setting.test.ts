import { describe, expect, it } from 'vitest'
import {
  advanced,
  dueOf,
  NEW_SETTING,
  placed,
  proposed,
  type SettingGuard,
  type SettingReader,
  type SettingStage,
  type SettingState,
  type SettingTrial,
  type SettingVersion,
  tries,
  versionFor,
  withdrawn,
  worsened,
} from '../../src/policy/setting.ts'

const versionOf = (version: number): SettingVersion => ({
  version,
  value: version,
  at: 100,
  by: 'ada',
  reason: 'a test',
})
const stageOf = (part: Partial<SettingStage> = {}): SettingStage => ({ share: null, labels: {}, lasts: null, ...part })
const node = (id: string, labels: Record<string, string> = {}): SettingReader => ({ id, labels })
const nodes = (count: number) => Array.from({ length: count }, (_, n) => node(`n${n}`))

/** A setting with version 1 everywhere, and version 2 on trial in these stages. */
function onTrial(stages: readonly SettingStage[], living: readonly SettingReader[] = []): SettingState {
  return proposed({ ...NEW_SETTING, live: versionOf(1) }, versionOf(2), { stages, guards: [] }, living)
}

const trialOf = ({ trial }: SettingState) => trial as SettingTrial

describe('a change of a setting', () => {
  it('without stages is everywhere at once, and ends a trial', () => {
    const state = proposed(onTrial([stageOf()]), versionOf(3), { stages: [], guards: [] }, [])
    expect(state).toEqual({ live: versionOf(3), trial: null })
    expect(versionFor(state, null)).toEqual(versionOf(3))
  })

  it('with stages begins in the first one, beside the value that was there', () => {
    const state = onTrial([stageOf({ labels: { zone: 'a' } }), stageOf()])
    expect(state).toMatchObject({
      live: versionOf(1),
      trial: { candidate: versionOf(2), at: 0, since: 100, nodes: null },
    })
  })

  it('is tried by nodes with all labels of its stage, and by nobody else', () => {
    const state = onTrial([stageOf({ labels: { zone: 'a', size: 'l' } })])
    const read = (reader: SettingReader | null) => versionFor(state, reader)?.version
    expect(read(node('n', { zone: 'a', size: 'l', more: 'x' }))).toBe(2)
    for (const labels of [{}, { zone: 'a' }, { zone: 'b', size: 'l' }] as Record<string, string>[])
      expect(read(node('n', labels))).toBe(1)
    expect(read(null)).toBe(1)
    expect(versionFor({ ...state, trial: null }, node('n', { zone: 'a', size: 'l' }))?.version).toBe(1)
  })

  it('is tried by the named nodes of a share, if they have the labels', () => {
    const trial = { ...trialOf(onTrial([stageOf({ share: 0.5, labels: { zone: 'a' } })])), nodes: ['n1', 'n2'] }
    expect(tries(trial, node('n1', { zone: 'a' }))).toBe(true)
    expect(tries(trial, node('n3', { zone: 'a' }))).toBe(false)
    expect(tries(trial, node('n2', { zone: 'b' }))).toBe(false)
    expect(tries({ ...trial, at: 1 }, node('n1', { zone: 'a' }))).toBe(false)
  })

  it('goes to its next stage, and from the last one to everywhere', () => {
    const first = onTrial([stageOf({ labels: { zone: 'a' } }), stageOf({ share: 0.5 })])
    const second = advanced(first, 500, nodes(4))
    expect(second).toMatchObject({ live: versionOf(1), trial: { at: 1, since: 500, candidate: versionOf(2) } })
    expect(trialOf(second).nodes).toHaveLength(2)
    expect(advanced(second, 900, nodes(4))).toEqual({ live: versionOf(2), trial: null })
    expect(advanced(first, 500, nodes(4), true)).toEqual({ live: versionOf(2), trial: null })
  })

  it('that is not on trial stays as it is, whoever wants its next stage, or none', () => {
    const state = { live: versionOf(1), trial: null }
    expect(advanced(state, 500, nodes(4))).toBe(state)
    expect(withdrawn(onTrial([stageOf()]))).toEqual(state)
  })

  it('comes to its next stage after the time of this one, or by hand', () => {
    expect(dueOf(trialOf(onTrial([stageOf({ lasts: 50 })])))).toBe(150)
    expect(dueOf(trialOf(onTrial([stageOf()])))).toBe(null)
    expect(dueOf({ ...trialOf(onTrial([stageOf({ lasts: 50 })])), at: 1 })).toBe(null)
  })
})

describe('the nodes of a share', () => {
  const half = stageOf({ share: 0.5 })

  it('are so many of those that live and have the labels, rounded up, by name', () => {
    const named = (count: number) => trialOf(onTrial([half], nodes(count))).nodes
    expect([0, 1, 3, 4].map((count) => named(count)?.length)).toEqual([0, 1, 2, 2])
    expect(named(8)).toEqual(named(8)?.toSorted())
    const labelled = [...nodes(3), node('x', { zone: 'a' })]
    expect(trialOf(onTrial([stageOf({ share: 0.5, labels: { zone: 'a' } })], labelled)).nodes).toEqual(['x'])
  })

  it('are the same whoever names them in whatever order, and others for another version', () => {
    const all = nodes(40)
    const named = (version: number, living = all) =>
      placed({ ...trialOf(onTrial([stageOf({ share: 0.1 })])), candidate: versionOf(version) }, living).nodes
    expect(named(2, all.toReversed())).toEqual(named(2))
    const sets = [2, 3, 4, 5].map((version) => String(named(version)))
    expect(new Set(sets).size).toBeGreaterThan(1)
    // No order of names: the first of them are not those that try everything.
    expect(sets).not.toContain(
      String(
        all
          .map(({ id }) => id)
          .toSorted()
          .slice(0, 4),
      ),
    )
    // Names that end alike are told apart, too.
    const alike = Array.from({ length: 40 }, (_, n) => node(`${n}-node`))
    expect(named(2, alike)).not.toEqual(named(3, alike))
  })

  it('are found by the same order in every version of the code: nodes of two of them may decide', () => {
    expect(trialOf(onTrial([stageOf({ share: 0.3 })], nodes(10))).nodes).toEqual(['n1', 'n2', 'n3'])
    // These two draw the same lot for version 2.
    const equal = ['n18264', 'n389650'].map((id) => node(id))
    for (const living of [equal, equal.toReversed()])
      expect(trialOf(onTrial([stageOf({ share: 0.5 })], living)).nodes).toEqual(['n18264'])
  })

  it('are each node for some version', () => {
    const all = nodes(10)
    const first = (version: number) =>
      placed({ ...trialOf(onTrial([stageOf({ share: 0.1 })])), candidate: versionOf(version) }, all).nodes?.[0]
    const found = new Set(Array.from({ length: 200 }, (_, version) => first(version)))
    expect(found).toEqual(new Set(all.map(({ id }) => id)))
  })

  it('keep it as long as they live, and others come only up to the number', () => {
    const before = trialOf(onTrial([half], nodes(4)))
    const [first = '', second = ''] = before.nodes ?? []
    expect(placed(before, nodes(4))).toBe(before)
    const more = placed(before, nodes(8))
    expect(more.nodes).toHaveLength(4)
    expect(more.nodes).toEqual(expect.arrayContaining([first, second]))
    // One of them is gone: another has its place.
    const left = nodes(4).filter(({ id }) => id !== first)
    const after = placed(before, left)
    expect(after.nodes).toHaveLength(2)
    expect(after.nodes).toContain(second)
    expect(after.nodes).not.toContain(first)
    // Fewer than there were, all of which had it.
    const few = placed(before, [node(first)])
    expect(few.nodes).toEqual([first])
    const none = { ...before, nodes: null }
    expect(placed(none, nodes(4))).toEqual(before)
    expect(placed(none, [])).toEqual({ ...none, nodes: [] })
  })

  it('are not named where a stage goes by labels alone', () => {
    const trial = trialOf(onTrial([stageOf()]))
    expect(placed(trial, nodes(4))).toBe(trial)
    expect(placed({ ...trial, nodes: ['n1'] }, nodes(4))).toEqual(trial)
    const over = { ...trial, at: 1 }
    expect(placed(over, nodes(4))).toBe(over)
  })
})

describe('a value on trial is taken back', () => {
  const well = { sample: { ended: 0, failed: 0 }, queueAge: 0 }

  it('where more attempts fail than may, of enough', () => {
    const guard: SettingGuard = { metric: 'failure-rate', agent: 'bank', above: 0.2, minimum: 10 }
    const why = (ended: number, failed: number) =>
      worsened(guard, { ...well, sample: { ended, failed }, queueAge: 1e9 })
    expect(why(0, 0)).toBe(null)
    expect(why(9, 9)).toBe(null)
    expect(why(10, 2)).toBe(null)
    expect(why(10, 3)).toBe('30 % of 10 attempts of agent bank failed, above 20 %')
  })

  it('where work waits for longer than it may', () => {
    const guard: SettingGuard = { metric: 'queue-age', agent: 'bank', above: 1_000 }
    const why = (queueAge: number) => worsened(guard, { sample: { ended: 100, failed: 100 }, queueAge })
    expect(why(1_000)).toBe(null)
    expect(why(1_001)).toBe('work has waited for agent bank for 1001 ms, above 1000 ms')
  })
})
