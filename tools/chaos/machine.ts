// How busy the machine is with other things: what takes longer for that is not the engine's fault.
import { setTimeout as delay } from 'node:timers/promises'

/** How long one sample computes (ms of CPU), and how far they are apart (ms). */
const BURST = 4
const EVERY = 250

/** How many times longer than on an idle machine computing takes, in all but the worst tenth of the time. */
export async function slownessWhile(busy: () => boolean): Promise<number> {
  const samples: number[] = []
  while (busy()) {
    samples.push(burst())
    await delay(EVERY)
  }
  samples.sort((a, b) => a - b)
  return Math.max(1, Math.round(10 * (samples[Math.floor(samples.length * 0.9)] ?? 1)) / 10)
}

function burst(): number {
  const began = performance.now()
  const cpu = process.cpuUsage()
  for (;;) {
    const { user, system } = process.cpuUsage(cpu)
    if (user + system >= BURST * 1_000) return (performance.now() - began) / ((user + system) / 1_000)
  }
}
