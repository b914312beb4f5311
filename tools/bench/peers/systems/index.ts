import type { System } from '../system.ts'
import { bullmq } from './bullmq.ts'
import { dbos } from './dbos.ts'
import { graphileWorker } from './graphile-worker.ts'
import { pgBoss } from './pg-boss.ts'
import { restate } from './restate.ts'
import { onPostgres, onSqlite } from './triarch.ts'

/** In the order in which they take turns. */
export const systems: readonly System[] = [onSqlite, onPostgres, restate, dbos, pgBoss, graphileWorker, bullmq]
