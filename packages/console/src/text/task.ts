import { graph } from './task/graph.ts'
import { one } from './task/one.ts'

/** Everything of one task, and of acting on it. */
export const task = {
  en: { graph: graph.en, one: one.en },
  de: { graph: graph.de, one: one.de },
}
