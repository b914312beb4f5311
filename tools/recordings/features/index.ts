import type { Feature } from '../feature.ts'
import { followers } from './after.ts'
import { batches } from './batch.ts'
import { caches } from './cache.ts'
import { carries } from './carry.ts'
import { children } from './child.ts'
import { continuations } from './continue.ts'
import { doubts } from './doubt.ts'
import { events } from './event.ts'
import { exclusives } from './exclusive.ts'
import { fallbacks } from './fallback.ts'
import { functions } from './function.ts'
import { heartbeats } from './heartbeat.ts'
import { hooks } from './hook.ts'
import { locks } from './lock.ts'
import { losses } from './loss.ts'
import { operators } from './operator.ts'
import { plans } from './plan.ts'
import { planFailures } from './plan-failure.ts'
import { remarks } from './remark.ts'
import { repeats } from './repeat.ts'
import { requests } from './request.ts'
import { rescues } from './rescue.ts'
import { retries } from './retry.ts'
import { rewinds } from './rewind.ts'
import { schedules } from './schedule.ts'
import { secrets } from './secret.ts'
import { suspensions } from './suspension.ts'
import { transactions } from './transaction.ts'
import { undos } from './undo.ts'

/** Everything that is recorded. */
export const features: readonly Feature[] = [
  functions,
  retries,
  doubts,
  rescues,
  undos,
  events,
  suspensions,
  heartbeats,
  children,
  batches,
  locks,
  exclusives,
  followers,
  operators,
  repeats,
  requests,
  continuations,
  rewinds,
  transactions,
  schedules,
  hooks,
  plans,
  planFailures,
  secrets,
  losses,
  remarks,
  caches,
  fallbacks,
  carries,
]
