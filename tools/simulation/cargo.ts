import { dated, type Evidence } from '../../packages/triarch/test/crash/evidence.ts'
import { FREIGHT } from '../../packages/triarch/test/crash/history-rules.ts'

/** Large enough not to be written twice; all are equally long. */
export function cargoOf(n: number): string[] {
  return Array.from({ length: 100 }, (_, place) => `${n} ${place}`)
}

/** So many that a row has no room for them. No schema refuses them. */
export function numbersOf(n: number): number[] {
  return Array.from({ length: 400 }, (_, place) => n * FREIGHT + place * 10 + 1)
}

/** Whatever was handed on is in the history as it was given. */
export function spoilt({ tasks }: Evidence): string[] {
  return tasks.flatMap((story) => {
    const names = new Map<number, string>()
    return dated(story).flatMap(({ event }) => {
      if (event.type === 'stepRequested') names.set(event.id, event.name)
      const [, n] = event.type === 'stepCompleted' ? (names.get(event.id)?.match(/^(?:pack|carry) (\d+)$/) ?? []) : []
      if (n === undefined || event.type !== 'stepCompleted') return []
      if (JSON.stringify(event.output) === JSON.stringify(cargoOf(Number(n)))) return []
      return [`${story.row.id}: step ${event.id} gave cargo ${n}, and the history has another value`]
    })
  })
}
