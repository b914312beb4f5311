import type { NewTask, SubmitOutcome } from 'triarch/store'
import { integers, texts } from './arrays.ts'

/** The parameters of `triarch.insert_tasks`, in its order. */
export function taskArrays(tasks: readonly NewTask[]): Buffer[] {
  return [
    texts(tasks.map(({ id }) => id)),
    texts(tasks.map(({ workflow }) => workflow)),
    texts(tasks.map(({ version }) => version)),
    integers(tasks.map(({ priority }) => priority)),
    texts(tasks.map(({ status }) => status)),
    integers(tasks.map(({ at }) => at)),
    integers(tasks.map(({ startAt }) => startAt)),
    integers(tasks.map(({ deadline }) => deadline)),
    texts(tasks.map(({ parent }) => parent)),
    texts(tasks.map(tagsText)),
    texts(tasks.map(({ events }) => events)),
  ]
}

/** The outcomes out of the answer: the key, negative when the id existed. */
export function submitOutcomes(answer: string): SubmitOutcome[] {
  return answer.split(',').map((text) => ({ created: Number(text) > 0, key: Math.abs(Number(text)) }))
}

export function tagsText({ tags }: NewTask): string | null {
  return Object.keys(tags).length > 0 ? JSON.stringify(tags) : null
}
