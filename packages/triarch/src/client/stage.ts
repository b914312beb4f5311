import { TriarchError } from '../error/error.ts'
import type { SettingGuard, SettingStage } from '../policy/setting.ts'
import { positiveMilliseconds } from '../value/duration.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkTags } from '../value/tag.ts'
import { checkText } from '../value/text.ts'
import type { SettingStageOptions } from './setting.ts'

/** Most stages of one change, and most guards. */
const MOST_STAGES = 10

/** Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function stagesOf(what: string, stages: readonly SettingStageOptions[]): SettingStage[] {
  if (!Array.isArray(stages) || stages.length > MOST_STAGES)
    throw new TriarchError('INVALID_OPTION', `${what}: stages must be an array of up to ${MOST_STAGES}`)
  return stages.map((stage: SettingStageOptions, index) => {
    const which = `${what}: stages[${index}]`
    checkOptions(which, stage ?? null, ['share', 'labels', 'lasts'])
    const { share = null, labels = {}, lasts } = stage
    if (share !== null && !(typeof share === 'number' && share > 0 && share <= 1))
      throw new TriarchError('INVALID_OPTION', `${which}.share must be a number above 0, to 1`)
    return {
      share,
      labels: checkTags(`${which}.labels`, labels),
      lasts: lasts === undefined ? null : positiveMilliseconds(lasts, `${which}.lasts`),
    }
  })
}

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function checkGuards(what: string, guards: readonly SettingGuard[]): SettingGuard[] {
  if (!Array.isArray(guards) || guards.length > MOST_STAGES)
    throw new TriarchError('INVALID_OPTION', `${what}: guards must be an array of up to ${MOST_STAGES}`)
  return guards.map((guard: SettingGuard, index) => {
    const which = `${what}: guards[${index}]`
    const { metric, agent, above } = guard ?? {}
    checkText(`${which}.agent`, agent, 100)
    if (metric === 'queue-age') {
      checkOptions(which, guard as Extract<SettingGuard, { metric: 'queue-age' }>, ['metric', 'agent', 'above'])
      return { metric, agent, above: checkInteger(`${which}.above`, above, 1, 86_400_000) }
    }
    if (metric !== 'failure-rate')
      throw new TriarchError('INVALID_OPTION', `${which}.metric must be "failure-rate" or "queue-age"`)
    if (!(typeof above === 'number' && above >= 0 && above <= 1))
      throw new TriarchError('INVALID_OPTION', `${which}.above must be a number from 0 to 1`)
    const { minimum } = guard as Extract<SettingGuard, { metric: 'failure-rate' }>
    return { metric, agent, above, minimum: checkInteger(`${which}.minimum`, minimum, 1, 1_000_000) }
  })
}
