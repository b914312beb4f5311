import { readdirSync, readFileSync } from 'node:fs'

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples: number[]
  timeDeltas: number[]
}

/** The functions with the most self time in the folder's CPU profile; the raw ceiling's own time does not count. */
export function hottest(folder: string, count = 15): string {
  const file = readdirSync(folder).find((name) => name.endsWith('.cpuprofile'))
  if (!file) throw new Error(`no CPU profile in ${folder}`)
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Profile
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const self = new Map<string, number>()
  let total = 0
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? '?'
    if (name.includes('/raw.ts:')) continue
    const delta = timeDeltas[index] ?? 0
    self.set(name, (self.get(name) ?? 0) + delta)
    total += delta
  }
  const sorted = [...self].sort(([, a], [, b]) => b - a).slice(0, count)
  return sorted.map(([name, time]) => `${((time / total) * 100).toFixed(1).padStart(5)} %  ${name}`).join('\n')
}

/** A function by its name and place. */
export function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const path = url.replace(/^file:\/\//, '').replace(`${process.cwd()}/`, '')
  return `${functionName || '(anonymous)'}${path ? `  ${path}:${lineNumber + 1}` : ''}`
}
