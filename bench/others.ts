import { cpus } from 'node:os'

/** Starts a watch; it tells how many cores other processes kept busy since, on average. */
export function watchOthers(): () => number {
  const [begin, busy, own] = [performance.now(), busyTime(), ownTime()]
  return () => Math.max(0, (busyTime() - busy - (ownTime() - own)) / (performance.now() - begin))
}

/** Time all cores have spent on anything at all (ms). */
function busyTime(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)
}

function ownTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
