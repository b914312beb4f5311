import type { Mutant } from './mutant.ts'

/** A function of the schema as it is once all migrations have run: its body stands at `start` of the file. */
export interface SqlFunction {
  name: string
  file: string
  start: number
  body: string
  /** Whether its body is statements of PL/pgSQL, and not one query. */
  procedural: boolean
}

const NAME = String.raw`triarch\.(\w+)`
const CREATED = new RegExp(`CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE) ${NAME}|ALTER FUNCTION ${NAME}|DROP FUNCTION (?:IF EXISTS )?${NAME}`, 'g') // biome-ignore format: one line
const RENAMED = new RegExp(String.raw`^ALTER FUNCTION ${NAME}[^;]*RENAME TO (\w+)`)

/** The functions that are left once these files have run in this order; of several of one name the last. */
export function functionsIn(files: Iterable<readonly [file: string, text: string]>): SqlFunction[] {
  const live = new Map<string, SqlFunction>()
  for (const [file, text] of files)
    for (const { 1: created, 2: altered, 3: dropped, index } of text.matchAll(CREATED)) {
      if (created !== undefined) {
        const from = text.indexOf('$$', index) + 2
        const head = text.slice(index, from)
        const body = text.slice(from, text.indexOf('$$', from))
        live.set(created, { name: created, file, start: from, body, procedural: /LANGUAGE plpgsql/i.test(head) })
      } else if (dropped !== undefined) live.delete(dropped)
      else if (altered !== undefined) {
        const [, , name] = RENAMED.exec(text.slice(index)) ?? []
        const of = live.get(altered)
        if (name === undefined || !of) continue
        live.delete(altered)
        live.set(name, { ...of, name })
      }
    }
  return [...live.values()]
}

interface Token {
  text: string
  start: number
  end: number
  /** How many brackets and cases are open around it. */
  depth: number
}

const TOKEN =
  /--[^\n]*|'(?:[^']|'')*'|"[^"]*"|[A-Za-z_]\w*(?:\.\w+)*|\d+|<=|>=|<>|:=|=>|\|\||->>|->|#>>?|@>|<@|::|\s+|./gs

/** Words, signs and literals, without comments and blanks. */
function tokensOf(body: string): Token[] {
  const tokens: Token[] = []
  let depth = 0
  let cases = 0
  for (const { 0: text, index } of body.matchAll(TOKEN)) {
    if (/^(?:--|\s)/.test(text)) continue
    const endsCase = text === 'END' && cases > 0
    if (endsCase) cases--
    if (text === ')' || text === ']' || endsCase) depth--
    tokens.push({ text, start: index, end: index + text.length, depth })
    if (text === 'CASE') cases++
    if (text === '(' || text === '[' || text === 'CASE') depth++
  }
  return tokens
}

const swapped: Readonly<Record<string, string>> = {
  ...{ AND: 'OR', OR: 'AND', '<': '<=', '<=': '<', '>': '>=', '>=': '>', '=': '<>', '<>': '=' },
  ...{ least: 'greatest', greatest: 'least', min: 'max', max: 'min' },
}
const LOCK = /^FOR (?:NO KEY )?(?:UPDATE|SHARE|KEY SHARE)(?: OF \w+)?(?: SKIP LOCKED| NOWAIT)?/
/** Words that begin a condition, or end what is set. */
const CLAUSE =
  /^(?:AND|OR|NOT|WHERE|FROM|ON|USING|JOIN|HAVING|FILTER|SELECT|VALUES|RETURNING|RETURN|IF|ELSIF|WHEN|THEN|ELSE|;)$/
/** Statements whose absence is a change. */
const DROPPED = /^(?:PERFORM|INSERT|UPDATE|DELETE|WITH|EXIT|CONTINUE)$/

type Change = { what: string; start: number; end: number; text: string }

/** Every mutant of a function: comparisons shifted, connectives swapped, conditions negated, locks and statements dropped. */
export function mutantsOfFunction(source: string, { name, file, start, body, procedural }: SqlFunction): Mutant[] {
  const seen = new Map<string, number>()
  return changesOf(body, procedural).map((change) => {
    const told = body.slice(change.start, change.end).replace(/\s+/g, ' ')
    const stem = `${file} ${name}: ${change.what} ${told.length <= 90 ? told : `${told.slice(0, 60)}…${told.slice(-25)}`}`
    const count = (seen.get(stem) ?? 0) + 1
    seen.set(stem, count)
    const line = source.slice(0, start + change.start).split('\n').length
    const key = count === 1 ? stem : `${stem} #${count}`
    return { key, file, line, start: start + change.start, end: start + change.end, text: change.text }
  })
}

function changesOf(body: string, procedural: boolean): Change[] {
  const tokens = tokensOf(body)
  return tokens.flatMap((token, n) => [
    ...changesOfQuery(body, tokens, token, n),
    ...(procedural ? changesOfStatement(body, tokens, token, n) : []),
  ])
}

function changesOfQuery(body: string, tokens: readonly Token[], { text, start, end }: Token, n: number): Change[] {
  const [before, behind] = [tokens[n - 1], tokens[n + 1]]
  /** With the words around it, which tell two alike apart. */
  const within = (what: string, by: string): Change => {
    const [from, to] = [before?.start ?? start, behind?.end ?? end]
    return { what, start: from, end: to, text: body.slice(from, start) + by + body.slice(end, to) }
  }
  const other = swapped[text]
  if (other !== undefined) return looksLike(tokens, n) ? [] : [within(`${text} to ${other} in`, other)]
  if (text === 'IS' && behind?.text === 'NULL') return [within('negate', 'IS NOT')]
  if (text === 'NOT' && behind && /^(?:NULL|EXISTS|DISTINCT)$/.test(behind.text)) return [within('drop NOT in', '')]
  if (text === 'EXISTS' && before?.text !== 'NOT') return [within('negate', 'NOT EXISTS')]
  if (text === 'DESC') return [within('drop DESC in', '')]
  if (text === 'SKIP') return [{ what: 'drop', start, end: behind?.end ?? end, text: '' }]
  if (text === 'NOWAIT') return [{ what: 'drop', start, end, text: '' }]
  const lock = text === 'FOR' ? LOCK.exec(body.slice(start).replace(/\s+/g, ' '))?.[0] : undefined
  if (lock === undefined) return []
  return [{ what: 'drop', start, end: tokens[n + lock.split(' ').length - 1]?.end ?? end, text: '' }]
}

function changesOfStatement(
  body: string,
  tokens: readonly Token[],
  { text, start, depth }: Token,
  n: number,
): Change[] {
  const before = tokens[n - 1]?.text ?? ''
  const next = (word: string) => tokens.findIndex((it, at) => at > n && it.text === word && it.depth === depth)
  if ((text === 'IF' && before !== 'END') || text === 'ELSIF') {
    const [from, to] = [tokens[n + 1], tokens[next('THEN') - 1]]
    // An existence has a change of its own.
    if (!from || !to || /^(?:NOT|EXISTS)$/.test(from.text)) return []
    const condition = body.slice(from.start, to.end)
    return [{ what: 'negate', start: from.start, end: to.end, text: `NOT (${condition})` }]
  }
  if (depth > 0 || !/^(?:;|BEGIN|LOOP|ELSE|THEN)$/.test(before)) return []
  const end = tokens[next(';')]?.start
  if (end === undefined || !(DROPPED.test(text) || tokens[n + 1]?.text === ':=')) return []
  return [{ what: 'drop', start, end, text: 'NULL' }]
}

/** Whether the sign is no comparison but an assignment, the AND a part of BETWEEN, the word no function. */
function looksLike(tokens: readonly Token[], n: number): boolean {
  const { text, depth } = tokens[n] as Token
  if (/^(?:least|greatest|min|max)$/.test(text)) return tokens[n + 1]?.text !== '('
  if (text !== 'AND' && text !== '=') return false
  for (let at = n - 1; at >= 0; at--) {
    const { text: before, depth: level } = tokens[at] as Token
    if (level > depth) continue
    if (level < depth) return false
    if (before === (text === 'AND' ? 'BETWEEN' : 'SET')) return true
    if (CLAUSE.test(before)) return false
  }
  return false
}
