import type { CountsChange, ListChange, LogLine } from 'triarch'
import { misunderstood } from './answer.ts'
import { object, text } from './shape.ts'
import type { StreamMessage } from './stream.ts'
import { logLine, taskInfo, taskPage } from './view.ts'

/** What a watch of tasks says of an event; null: one of a later version. Throws SERVER_ANSWER_INVALID. */
export function listChange(told: StreamMessage): ListChange | null {
  return understood(told, ({ event, data }) => {
    if (event === 'page') return { type: 'page', ...taskPage(data) } as ListChange
    if (event === 'task') return { type: 'task', task: taskInfo(data) }
    if (event === 'gone') return { type: 'gone', id: text(object(data).id) }
    return null
  })
}

/** What a watch of the whole says of an event; null: one of a later version. Throws SERVER_ANSWER_INVALID. */
export function countsChange(told: StreamMessage): CountsChange | null {
  return understood(told, ({ event, data }) => {
    if (event === 'counts') return { type: 'counts', counts: object(data) as never }
    return null
  })
}

/** What a stream of log lines says of an event; null: one of a later version. Throws SERVER_ANSWER_INVALID. */
export function lineOfMessage(told: NonNullable<StreamMessage>): LogLine | null {
  return understood(told, ({ event, data }) => (event === 'line' ? logLine(data) : null)) as LogLine | null
}

function understood<T>(told: StreamMessage, read: (told: NonNullable<StreamMessage>) => T): T | { type: 'quiet' } {
  if (told === null) return { type: 'quiet' }
  try {
    return read(told)
  } catch {
    throw misunderstood('not what the API describes')
  }
}
