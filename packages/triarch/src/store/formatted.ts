import { callsOf } from './deadline.ts'
import type { NewTask, StateStore, Transition } from './port.ts'
import { inFormat1 } from './record.ts'

/**
 * The store, written as it says (`format`): in today's format, for which nothing is done, or, while code of the first may have to
 * go on with its tasks, in that one. What is read says itself how it is written.
 */
export function withFormat(store: StateStore): StateStore {
  let old = false
  return {
    ...callsOf(store),
    async open() {
      await store.open()
      old = store.format?.() === 1
    },
    commit: (batch) => store.commit(old ? batch.map(transition) : batch),
    submit: (tasks, acted) => store.submit(old ? tasks.map(task) : tasks, acted),
    submitIn: (transaction, tasks) => store.submitIn(transaction, old ? tasks.map(task) : tasks),
    importTask: (it) => store.importTask(old ? { ...it, records: it.records.map(record) } : it),
    writeSchedule: (it) => store.writeSchedule(old ? { ...it, tasks: it.tasks.map(task) } : it),
    quarantine: (it) => store.quarantine(old && it.record ? { ...it, record: record(it.record) } : it),
    terminate: (it) => store.terminate(old ? record(it) : it),
    cut: (it) => store.cut(old ? record(it) : it),
  }
}

function transition(it: Transition): Transition {
  if (it.events === null && it.children.length === 0) return it
  return { ...it, events: it.events && inFormat1(it.events), children: it.children.map(task) }
}

function task(it: NewTask): NewTask {
  return record(it)
}

function record<T extends { events: string }>(it: T): T {
  return { ...it, events: inFormat1(it.events) }
}
