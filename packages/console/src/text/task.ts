import { acting } from './task/acting.ts'
import { graph } from './task/graph.ts'
import { one } from './task/one.ts'
import { start } from './task/start.ts'
import { why } from './task/why.ts'

/** Everything of one task, and of acting on it. */
export const task = {
  en: { startTask: start.en.title, acting: acting.en, graph: graph.en, one: one.en, start: start.en, why: why.en },
  de: { startTask: start.de.title, acting: acting.de, graph: graph.de, one: one.de, start: start.de, why: why.de },
}
