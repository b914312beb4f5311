import type { Measure } from '../measure.ts'
import { bytes } from './bytes.ts'
import { fanout } from './fanout.ts'
import { growth } from './growth.ts'
import { plan } from './plan.ts'
import { recover } from './recover.ts'
import { replay } from './replay.ts'
import { roundtrip } from './roundtrip.ts'
import { sleeping } from './sleeping.ts'
import { steps } from './steps.ts'
import { tasks } from './tasks.ts'

export const measures: readonly Measure[] = [
  steps,
  tasks,
  roundtrip,
  fanout,
  plan,
  replay,
  bytes,
  recover,
  sleeping,
  growth,
]
