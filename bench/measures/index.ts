import type { Measure, StoreName } from '../measure.ts'
import { across } from './across.ts'
import { batch } from './batch.ts'
import { bloat } from './bloat.ts'
import { bytes } from './bytes.ts'
import { console } from './console.ts'
import { consoles } from './consoles.ts'
import { fairness } from './fairness.ts'
import { fanout } from './fanout.ts'
import { fleet } from './fleet.ts'
import { garbage } from './garbage.ts'
import { growth } from './growth.ts'
import { herd } from './herd.ts'
import { http } from './http.ts'
import { line } from './line.ts'
import { payloads } from './payloads.ts'
import { plan } from './plan.ts'
import { policies } from './policies.ts'
import { direct, queue } from './queue.ts'
import { recover } from './recover.ts'
import { release } from './release.ts'
import { replay } from './replay.ts'
import { roundtrip } from './roundtrip.ts'
import { sleeping } from './sleeping.ts'
import { snapshot } from './snapshot.ts'
import { steps } from './steps.ts'
import { submit } from './submit.ts'
import { takeover } from './takeover.ts'
import { tasks } from './tasks.ts'
import { telemetry } from './telemetry.ts'
import { wire } from './wire.ts'

/** By store, in the order in which they are taken. */
export const measures: Readonly<Record<StoreName, readonly Measure[]>> = {
  sqlite: [
    steps,
    tasks,
    roundtrip,
    across,
    submit,
    fanout,
    line,
    plan,
    batch,
    replay,
    payloads,
    bytes,
    garbage,
    recover,
    sleeping,
    growth,
    http,
    wire,
    policies,
    release,
    fairness,
    console,
    consoles,
    telemetry,
  ],
  postgres: [
    steps,
    tasks,
    roundtrip,
    across,
    submit,
    queue,
    direct,
    fanout,
    line,
    replay,
    payloads,
    takeover,
    herd,
    fleet,
    growth,
    bloat,
    snapshot,
    http,
    wire,
    policies,
    release,
    fairness,
    consoles,
  ],
}
