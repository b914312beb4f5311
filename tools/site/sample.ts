import type { Page, Problem } from './page.ts'

export interface CodeLine {
  text: string
  /** Where it stands on the page, from 1. */
  line: number
}

/** One module of a page: a fence, what continues it, and what stands in comments before them. */
export interface Sample {
  /** The file's name among those of its page. */
  file: string
  code: CodeLine[]
}

/** A fence that is run, as far as its module goes there. */
export interface Program {
  sample: Sample
  /** How many lines of the module are run. */
  length: number
  line: number
  /** What it must print, if the page shows that. */
  prints: string | null
}

export interface Reading {
  samples: Sample[]
  programs: Program[]
  problems: Problem[]
}

/** A fence, or a comment that holds code. */
interface Block {
  hidden: boolean
  /** The words behind the opening, the language first. */
  info: string[]
  line: number
  code: CodeLine[]
  /** Whether only blank lines stand between the block before and this one. */
  adjacent: boolean
}

const misspelt = ['typescript', 'tsx', 'mts', 'cts']

/**
 * The samples of a page. A fence of `ts` is a module of its own. The words behind `ts` may say: `continued`, it joins the module before;
 * `run`, it is run, and prints what a fence of `text` shows that comes next; `orders.ts`, what other samples of the page import it by.
 * Code of another engine is `typescript theirs`, and is not looked at.
 * `signature`, it shows how something is declared, and is no module. A comment that begins with `<!-- ts` is code that readers need not see: of the fence right behind it, or a file if it has a name.
 */
export function samplesOf({ path, markdown }: Page): Reading {
  const reading: Reading = { samples: [], programs: [], problems: [] }
  const problem = (line: number, message: string) => void reading.problems.push({ page: path, line, message })
  const { blocks, open } = blocksOf(markdown)
  if (open !== null) problem(open, 'this fence or comment never ends')
  let waiting: Block | null = null
  let printing: Program | null = null
  for (const block of blocks) {
    const [language = '', ...words] = block.info
    if (waiting && !(block.adjacent && language === 'ts' && !block.hidden)) {
      problem(waiting.line, 'this code in a comment has no sample right behind it')
      waiting = null
    }
    if (language === 'text' && printing) printing.prints = block.code.map(({ text }) => text).join('\n')
    if (!block.hidden) printing = null
    if (misspelt.includes(language) && !words.includes('theirs'))
      problem(block.line, `write ts, not ${language}: nothing else is checked`)
    if (language !== 'ts' || words.includes('signature')) continue

    const file = words.find((word) => /^[\w.-]+\.ts$/.test(word))
    const strange = words.find((word) => word !== file && (block.hidden || !['run', 'continued'].includes(word)))
    if (strange !== undefined) problem(block.line, `"${strange}" says nothing behind ts`)
    if (block.hidden && file === undefined) {
      waiting = block
      continue
    }
    const continued = words.includes('continued') ? reading.samples.at(-1) : undefined
    if (words.includes('continued') && !continued) problem(block.line, 'there is no sample before this one to continue')
    const sample = continued ?? { file: file ?? `line-${block.line}.ts`, code: [] }
    if (!continued) {
      if (reading.samples.some((other) => other.file === sample.file)) problem(block.line, `${file} is there already`)
      reading.samples.push(sample)
    }
    sample.code.push(...(waiting?.code ?? []), ...block.code)
    waiting = null
    if (words.includes('run')) {
      printing = { sample, length: sample.code.length, line: block.line, prints: null }
      reading.programs.push(printing)
    }
  }
  if (waiting) problem(waiting.line, 'this code in a comment has no sample right behind it')
  return reading
}

function blocksOf(markdown: string): { blocks: Block[]; open: number | null } {
  const blocks: Block[] = []
  let block: Block | null = null
  let end = /^$/
  let indent = 0
  let adjacent = false
  for (const [index, text] of markdown.split(/\r?\n/).entries()) {
    const line = index + 1
    if (block) {
      if (end.test(text)) {
        blocks.push(block)
        block = null
        adjacent = true
      } else block.code.push({ text: text.slice(0, indent).trim() + text.slice(indent), line })
      continue
    }
    const [, margin = '', fence, info = ''] = /^( *)(`{3,}|~{3,})(.*)$/.exec(text) ?? []
    const [, code] = /^<!-- (ts\b.*)$/.exec(text) ?? []
    if (fence !== undefined || code !== undefined) {
      const words = (code ?? info).trim().split(/\s+/)
      block = { hidden: code !== undefined, info: words, line, code: [], adjacent }
      indent = margin.length
      end = code === undefined ? new RegExp(`^ *${fence?.[0]}{${fence?.length},} *$`) : /^-->\s*$/
    } else if (text.trim() !== '') adjacent = false
  }
  return { blocks, open: block?.line ?? null }
}
