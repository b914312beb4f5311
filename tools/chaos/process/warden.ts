// Outlives the harness by a moment, however that ends: then it ends what is still there, also what stands still and cannot
// notice by itself, and removes the directory. It is told by lines: "+PID SIGNAL", "-PID", "rm DIR", "keep DIR".
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

const wards = new Map<number, NodeJS.Signals>()
const directories = new Set<string>()

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [word = '', rest = ''] = line.split(' ')
    if (word.startsWith('+')) wards.set(Number(word.slice(1)), rest as NodeJS.Signals)
    else if (word.startsWith('-')) wards.delete(Number(word.slice(1)))
    else if (word === 'rm') directories.add(line.slice(3))
    else if (word === 'keep') directories.delete(line.slice(5))
  })
  .once('close', end)

async function end(): Promise<void> {
  for (const [pid, signal] of wards) send(pid, signal)
  for (let round = 0; round < 50 && [...wards.keys()].some((pid) => send(pid, 0)); round++) await delay(100)
  for (const pid of wards.keys()) send(pid, 'SIGKILL')
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
}

/** False: it is gone. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
