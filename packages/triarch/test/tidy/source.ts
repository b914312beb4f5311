const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const string = /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y
const regex = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y
const template = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*/y
const beforeRegex = /(?:^|[=(,:;!&|?{}[+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|void|throw|await|yield))$/

/** A source file, with what is not code blanked out. Blanks keep every offset and line where it was. */
export interface Source {
  readonly path: string
  readonly raw: string
  /** Comments blanked. */
  readonly text: string
  /** Comments and the contents of strings, templates and regular expressions blanked. */
  readonly code: string
}

export function parse(path: string, raw: string): Source {
  let at = 0
  let text = ''
  let code = ''
  const holes: number[] = [] // open `${` holes of templates, each with the depth of braces inside it

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(raw)?.[0]
  }
  const emit = (token: string, asText: string, asCode: string): void => {
    text += asText
    code += asCode
    at += token.length
  }
  const keep = (token: string): void => emit(token, token, token)
  const quote = (token: string): void => emit(token, token, token[0] + blank(token.slice(1, -1)) + token.at(-1))
  const literal = (): void => {
    const token = match(template) ?? ''
    emit(token, token, blank(token))
    if (raw.startsWith('${', at)) holes.push(0)
    keep(raw.slice(at, at + (raw[at] === '$' ? 2 : 1)))
  }

  while (at < raw.length) {
    const char = raw[at] ?? ''
    const depth = holes.at(-1)
    const aside = char === '/' ? match(comment) : undefined
    const quoted = char === '"' || char === "'" ? match(string) : undefined
    const pattern = char === '/' && aside === undefined && beforeRegex.test(code.trimEnd()) ? match(regex) : undefined
    if (aside !== undefined) emit(aside, blank(aside), blank(aside))
    else if (quoted !== undefined) quote(quoted)
    else if (pattern !== undefined) quote(pattern)
    else if (char === '`' || (char === '}' && depth === 0)) {
      if (char === '}') holes.pop()
      keep(char)
      literal()
    } else {
      if (depth !== undefined && char === '{') holes[holes.length - 1] = depth + 1
      if (depth !== undefined && char === '}') holes[holes.length - 1] = depth - 1
      keep(char)
    }
  }
  return { path, raw, text, code }
}

export function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length
}

function blank(token: string): string {
  return token.replace(/[^\n]/g, ' ')
}
