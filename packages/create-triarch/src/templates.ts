import { file } from './template/file.ts'
import { processes } from './template/processes.ts'
import type { Template } from './template/template.ts'
import { web } from './template/web.ts'

/**
 * All templates, by their names.
 * @example for (const [name, { about }] of Object.entries(templates)) console.log(name, about)
 */
export const templates: { readonly file: Template; readonly web: Template; readonly processes: Template } = {
  file,
  web,
  processes,
}
