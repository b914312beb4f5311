import { cpus } from 'node:os'
import type { Bench } from './measure.ts'
import { cpuOf } from './processes.ts'

/** Starts a watch; it tells how many cores other processes kept busy since, on average. Our children are not others. */
export async function watchOthers({ look }: Pick<Bench, 'look'>): Promise<() => Promise<number>> {
  const begin = performance.now()
  const others = async () => busyTime() - (cpuOf(process.pid) ?? ownTime()) - ((await look())?.cpu || 0)
  const before = await others()
  return async () => Math.max(0, ((await others()) - before) / (performance.now() - begin))
}

/** Time all cores have spent on anything at all (ms). */
function busyTime(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)
}

function ownTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
