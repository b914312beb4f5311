// The reference page of an entry: each export, what is said of it, and its examples.

import { headingsOf } from '../site/heading.ts'
import { CODE } from './code.ts'
import { type Member, membersOf, saidOfAll } from './member.ts'
import { type Home, preambleOf } from './shop.ts'
import type { Exported, Surface } from './surface.ts'
import { examplesOf, lineOf, sentencesOf, textOf } from './text.ts'

const chapters = ['Functions', 'Classes', 'Constants', 'Types'] as const

/** Longest declaration that is shown as a whole. */
const LONGEST = 40

/** What each entry is for. */
const purposes: Readonly<Record<string, string>> = {
  triarch: 'Agents and their actions, workflows and plans, and the engine that runs their tasks.',
  'triarch/contract':
    'What a client is made of, wherever it runs: its interface, workflows by their names, errors. It needs nothing of Node.',
  'triarch/sqlite': 'The state store in a SQLite file.',
  'triarch/store':
    'What a state store of another package is made of: the port, and the environment its time comes from. Programs that use a store need nothing of it.',
  'triarch/testing': 'An engine in virtual time on a store in memory, and one whose processes crash at every place.',
  '@triarch/postgres': 'The state store on a PostgreSQL, shared by any number of processes.',
  '@triarch/client':
    'The calls of `Triarch` over HTTP, wherever `fetch` is. [How they behave](../../concepts/client.md) is a page of its own.',
  '@triarch/server': 'Triarch over HTTP. [What it answers](../../concepts/server.md) is a page of its own.',
  '@triarch/server/push':
    'Agents that are only a URL. [How they are called](../../concepts/push-agents.md) is a page of its own.',
  '@triarch/server/sinks':
    'Where alerts are told: a URL, a mailbox. [How they are told](../../concepts/alerts.md) is a page of its own.',
  '@triarch/console': 'The console: static files.',
  '@triarch/opentelemetry': 'Traces and metrics of an engine for OpenTelemetry.',
  '@triarch/opentelemetry/prometheus': 'Metrics of an engine for Prometheus.',
  '@triarch/cli': 'The command `triarch`, for programs. [What it does](../../concepts/cli.md) is a page of its own.',
  'create-triarch': 'Beginnings of projects. `npm create triarch` writes one.',
  'eslint-plugin-triarch':
    'Rules for the code of workflows and plans. [Each rule](../../eslint.md) has a section of its own.',
}

export interface Setting {
  /** Of each export by its name, for the imports of examples. */
  homes: ReadonlyMap<string, Home>
  /** Links to the reference of errors. */
  codes: ReadonlySet<string>
}

export function pageOf(surface: Surface, setting: Setting): string {
  const purpose = purposes[surface.entry.name]
  if (purpose === undefined) throw new Error(`tools/api/reference.ts does not say what ${surface.entry.name} is for`)
  const shown = surface.exports.map((exported) => ({ exported, chapter: chapterOf(exported) }))
  const parts = [
    `# ${surface.entry.name}`,
    purpose,
    'This page is made of the comments in the code. Examples are at home in a shop: they name its agent `payments`, its actions `charge` and `ship`, its workflow `fulfil`, its `api`, and a `task` (inside of a workflow its context, outside of it its handle).', // biome-ignore format: one line
  ]
  for (const chapter of chapters) {
    const own = shown.filter((one) => one.chapter === chapter)
    if (own.length > 0)
      parts.push(`## ${chapter}`, ...own.flatMap(({ exported }) => sectionOf(exported, surface, setting)))
  }
  return linked(parts.join('\n\n').concat('\n'))
}

/** The page with links to its sections: an action and an Action have the same heading, but for a number. */
function linked(page: string): string {
  const sections = headingsOf(page).filter(({ level }) => level === 3)
  const slugs = new Map(sections.map(({ title, slug }) => [title, slug]))
  return page.replace(/\]\(#api-(\w+)\)/g, (_, name: string) => `](#${slugs.get(name)})`)
}

function chapterOf({ declaration: { nodes }, typeOnly }: Exported): (typeof chapters)[number] {
  const [node] = nodes
  const declared = node?.type === 'ExportNamedDeclaration' ? (node.declaration as { type: string }) : node
  if (declared?.type === 'ClassDeclaration') return typeOnly ? 'Types' : 'Classes'
  if (declared?.type === 'TSDeclareFunction') return 'Functions'
  return declared?.type === 'VariableDeclaration' ? 'Constants' : 'Types'
}

function sectionOf(exported: Exported, surface: Surface, setting: Setting): string[] {
  const { name, declaration } = exported
  const members = membersOf(declaration)
  const said = saidOfAll(declaration) ?? ''
  const long = members.some((member) => examplesOf(member.said ?? '').length > 0)
  const shown = long || examplesOf(said).length > 0
  return [
    `### ${name === 'default' ? 'The default export' : name}`,
    signature(headOf(exported, members)),
    prose(sentencesOf(said), setting),
    ...examplesOf(said).map((code) => example(code, name, setting)),
    ...(long ? members.flatMap((member) => memberSection(member, name, setting)) : []),
    ...(!long && members.length > 0 ? [members.map((member) => memberItem(member, setting)).join('\n')] : []),
    ...usesOf(exported, surface),
    ...(shown ? [] : shownBy(exported, surface)),
  ].filter((part) => part !== '')
}

/** What is shown of a declaration: without the members that are told one by one. */
function headOf({ declaration: { module, nodes } }: Exported, members: readonly Member[]): string {
  const text = nodes.map((node) => textOf(module, node)).join('\n')
  const lines = text.split('\n')
  if (/^(?:interface|(?:abstract )?class) /.test(text)) {
    const constructors = lines.filter((line) => line.startsWith('  constructor('))
    const [head = ''] = text.split(/ \{(?:\n|\s*\}|$)/)
    return [head, ...constructors].join('\n')
  }
  if (members.length > 0 && text.endsWith('}')) return text
  return lines.length > LONGEST ? [...lines.slice(0, LONGEST), '  // and more'].join('\n') : text
}

function memberSection({ name, module, nodes, said }: Member, owner: string, setting: Setting): string[] {
  return [
    `#### ${owner}.${name.replace(/^\[|\]$/g, '')}`,
    signature(nodes.map((node) => textOf(module, node)).join('\n')),
    prose(sentencesOf(said ?? ''), setting),
    ...examplesOf(said ?? '').map((code) => example(code, owner, setting)),
  ].filter((part) => part !== '')
}

function memberItem({ module, nodes, said }: Member, setting: Setting): string {
  const text = nodes.map((node) => lineOf(module, node)).join('; ')
  const code = text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
  return `- ${code}: ${prose(sentencesOf(said ?? ''), setting)}`
}

/** A type without an example is in those of what names it. */
function shownBy({ declaration: { name } }: Exported, { exports }: Surface): string[] {
  const word = new RegExp(`\\b${name}\\b`)
  const users = exports.filter(({ declaration: { module, nodes, name: other } }) => {
    return other !== name && nodes.some((node) => word.test(textOf(module, node)))
  })
  return users.length > 0 ? [`In ${users.map(linkTo).join(', ')}.`] : []
}

function linkTo({ name }: Exported): string {
  return `[\`${name}\`](#api-${name})`
}

/** The exports, of this entry, that the declaration names. */
function usesOf({ declaration, name }: Exported, { exports }: Surface): string[] {
  const text = declaration.nodes.map((node) => textOf(declaration.module, node)).join('\n')
  const words = new Set(text.match(/\w+/g))
  const used = exports.filter((one) => one.name !== name && /^[A-Z]/.test(one.name) && words.has(one.declaration.name))
  return used.length > 0 ? [`See ${used.map(linkTo).join(', ')}.`] : []
}

function signature(text: string): string {
  return `\`\`\`ts signature\n${text}\n\`\`\``
}

function example(code: string, owner: string, { homes }: Setting): string {
  const hidden = preambleOf(code, owner, homes)
  const comment = hidden.length > 0 ? `<!-- ts\n${hidden.join('\n')}\n-->\n` : ''
  return `${comment}\`\`\`ts\n${code}\n\`\`\``
}

/** Sentences as Markdown: in one line, error codes as links, and nothing that reads as HTML. */
function prose(said: string, { codes }: Setting): string {
  const parts = said.replace(/\s+/g, ' ').split(/(`[^`]*`)/)
  return parts
    .map((part) =>
      part.startsWith('`')
        ? part
        : part
            .replace(/</g, '&lt;')
            .replace(CODE, (code) => (codes.has(code) ? `[${code}](../errors.md#${code.toLowerCase()})` : code)),
    )
    .join('')
}
