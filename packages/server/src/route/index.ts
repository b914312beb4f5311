import { agents } from './agents.ts'
import { alerts } from './alerts.ts'
import { audit } from './audit.ts'
import { breakers } from './breakers.ts'
import { cache } from './cache.ts'
import { controls } from './controls.ts'
import { health } from './health.ts'
import { keys } from './keys.ts'
import { live } from './live.ts'
import { operations } from './operations.ts'
import { principal } from './principal.ts'
import { probes } from './probes.ts'
import { rateLimits } from './rate-limits.ts'
import type { Route } from './route.ts'
import { schedules } from './schedules.ts'
import { secret } from './secret.ts'
import { settings } from './settings.ts'
import { statistics } from './statistics.ts'
import { submissions } from './submissions.ts'
import { system } from './system.ts'
import { tasks } from './tasks.ts'

/** All that the server does. */
export const routes: readonly Route[] = [
  ...live,
  ...submissions,
  ...tasks,
  ...controls,
  ...operations,
  ...schedules,
  ...system,
  ...breakers,
  ...rateLimits,
  ...alerts,
  ...health,
  ...probes,
  ...cache,
  ...settings,
  ...statistics,
  ...audit,
  ...keys,
  ...secret,
  ...principal,
  ...agents,
]
