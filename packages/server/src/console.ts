import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TriarchError } from 'triarch'

interface File {
  type: string
  /** By how it is compressed. */
  bodies: ReadonlyMap<'identity' | 'br' | 'gzip', Uint8Array<ArrayBuffer>>
}

const types: Readonly<Record<string, string>> = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' }

/** Nothing but what was built with the page runs in it, and it speaks to nobody but this server. */
const POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:",
  "base-uri 'self'; form-action 'none'; frame-ancestors 'none'",
].join('; ')

/**
 * The console as static content: files with a hash in their names, kept by browsers for ever, and one page for all places, asked for each
 * time. What is served was read when the server was made: no path of a request leads to the disk.
 */
export class ConsoleFiles {
  readonly #assets: ReadonlyMap<string, File>
  readonly #page: Uint8Array<ArrayBuffer>
  readonly #tag: string

  /** `folder`: of the built files; `basePath`: where the server is mounted; `traceUrl`: where traces are, or empty. Throws INVALID_OPTION: it is not built. */
  constructor(folder: URL | string, basePath: string, traceUrl = '') {
    const home = typeof folder === 'string' ? folder : fileURLToPath(folder)
    try {
      this.#assets = assetsOf(join(home, 'assets'))
      const page = readFileSync(join(home, 'index.html'), 'utf8')
        .replace('<base href="/"', `<base href="${basePath}/"`)
        .replace('content="/api/v1"', `content="${basePath}/api/v1"`)
        // A function: a `$` of the URL is no reference to what was found.
        .replace('name="triarch-trace" content=""', () => `name="triarch-trace" content="${attribute(traceUrl)}"`)
      this.#page = new TextEncoder().encode(page)
    } catch (cause) {
      throw new TriarchError('INVALID_OPTION', `createServer: console: there are no files of a console in ${home}`, {
        cause,
      })
    }
    this.#tag = `"${createHash('sha256').update(this.#page).digest('base64url').slice(0, 22)}"`
  }

  /** What is at this path, below the base; null: it is for somebody else. */
  respond(request: Request, path: string): Response | null {
    if ((request.method !== 'GET' && request.method !== 'HEAD') || path.startsWith('/api/')) return null
    if (path.startsWith('/assets/')) return this.#asset(request, path.slice('/assets/'.length))
    // Any place of the console, where a browser asks for a page.
    if (path !== '/' && !request.headers.get('accept')?.includes('text/html')) return null
    const headers = {
      ...{ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache', etag: this.#tag },
      ...{ 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' },
    }
    const isKnown = request.headers.get('if-none-match') === this.#tag
    if (isKnown) return new Response(null, { status: 304, headers })
    return new Response(request.method === 'HEAD' ? null : this.#page, { headers })
  }

  #asset(request: Request, name: string): Response | null {
    const file = this.#assets.get(name)
    if (!file) return null
    const accepted = request.headers.get('accept-encoding') ?? ''
    const encoding =
      (['br', 'gzip'] as const).find((one) => accepted.includes(one) && file.bodies.has(one)) ?? 'identity'
    return new Response(request.method === 'HEAD' ? null : (file.bodies.get(encoding) ?? null), {
      headers: {
        ...{
          'content-type': file.type,
          'cache-control': 'public, max-age=31536000, immutable',
          vary: 'accept-encoding',
        },
        ...{ 'x-content-type-options': 'nosniff', ...(encoding !== 'identity' && { 'content-encoding': encoding }) },
      },
    })
  }
}

/** What may stand between the quotes of an attribute. */
function attribute(text: string): string {
  return text.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function assetsOf(folder: string): Map<string, File> {
  const names = readdirSync(folder)
  const content = (name: string) => new Uint8Array(readFileSync(join(folder, name)))
  return new Map(
    names.flatMap((name) => {
      const type = types[name.split('.').at(-1) ?? '']
      if (type === undefined) return []
      const bodies: File['bodies'] = new Map([
        ['identity', content(name)] as const,
        ...(names.includes(`${name}.br`) ? [['br', content(`${name}.br`)] as const] : []),
        ...(names.includes(`${name}.gz`) ? [['gzip', content(`${name}.gz`)] as const] : []),
      ])
      return [[name, { type, bodies }] as const]
    }),
  )
}
