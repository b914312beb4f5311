// Builds the console into dist, if what it is made of is newer: hashed names, each file with what it is compressed, and in the
// page the digest of each file that it loads.
// node packages/console/build.ts
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'vite'

const home = import.meta.dirname
const page = join(home, 'dist/index.html')

function isStale(): boolean {
  if (!existsSync(page)) return true
  const built = statSync(page).mtimeMs
  const made = ['src/**/*.{ts,tsx,css}', 'index.html', 'vite.config.ts', 'package.json', 'build.ts']
  return globSync(made, { cwd: home }).some((path) => statSync(join(home, path)).mtimeMs > built)
}

/** No file is run or shown that is not the one that was built. */
function withIntegrity(html: string): string {
  return html.replace(/ crossorigin (src|href)="(\.\/assets\/[^"]+)"/g, (_, name: string, path: string) => {
    const digest = createHash('sha384')
      .update(readFileSync(join(home, 'dist', path)))
      .digest('base64')
    return ` crossorigin integrity="sha384-${digest}" ${name}="${path}"`
  })
}

if (isStale()) {
  await build({ root: home, configFile: join(home, 'vite.config.ts') })
  for (const path of globSync('dist/assets/*.{js,css}', { cwd: home })) {
    const file = join(home, path)
    const content = readFileSync(file)
    writeFileSync(`${file}.br`, brotliCompressSync(content))
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }))
  }
  // Last: what is newer than the page is not built.
  writeFileSync(page, withIntegrity(readFileSync(page, 'utf8')))
}
