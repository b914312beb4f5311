export interface Heading {
  level: number
  title: string
  /** What links to it end with, behind `#`. */
  slug: string
  line: number
}

/** The headings of a page. Their slugs are GitHub's, and the site's as well, so that a link holds in both places. */
export function headingsOf(markdown: string): Heading[] {
  const seen = new Map<string, number>()
  const headings: Heading[] = []
  for (const [index, text] of proseOf(markdown).entries()) {
    const [, marks = '', words] = /^(#{1,6}) +(.+?) *#*$/.exec(text) ?? []
    if (words === undefined) continue
    const title = words.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '')
    const plain = slugOf(title)
    const times = seen.get(plain) ?? 0
    seen.set(plain, times + 1)
    headings.push({ level: marks.length, title, slug: times === 0 ? plain : `${plain}-${times}`, line: index + 1 })
  }
  return headings
}

export function titleOf(markdown: string): string {
  return headingsOf(markdown)[0]?.title ?? ''
}

export function slugOf(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** The lines of a page, those of fences and comments empty. */
export function proseOf(markdown: string): string[] {
  let end: RegExp | null = null
  return markdown.split(/\r?\n/).map((text) => {
    if (end) {
      if (end.test(text)) end = null
      return ''
    }
    const [, fence] = /^ *(`{3,}|~{3,})/.exec(text) ?? []
    if (fence !== undefined) end = new RegExp(`^ *${fence} *$`)
    else if (/^<!--(?!.*-->)/.test(text)) end = /-->/
    else return text
    return ''
  })
}

/** The page without its comments: what a reader sees of it. */
export function visible(markdown: string): string {
  return markdown.replace(/^<!--.*?-->\r?\n/gms, '')
}
