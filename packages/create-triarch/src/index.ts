/** Beginnings of projects, for programs that write them without a process of its own. */

export { type CreateOptions, create } from './create.ts'
export type { Template } from './template/template.ts'
export { templates } from './templates.ts'
