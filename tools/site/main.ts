// npm run docs: builds the site. `-- check [page...]`: compiles every sample of the pages, runs those that ask for it, and follows
// their links. `-- dev`: the site as it is written.
import { relative, resolve } from 'node:path'
import { build, preview, site } from './build.ts'
import { check } from './check.ts'
import { isInternal, unknownCode } from './code-name.ts'
import { dead } from './link.ts'
import { type Problem, pagesOf, read, root } from './page.ts'

const [word = 'build', ...args] = process.argv.slice(2)
if (word === 'check') await checkPages(args)
else if (word === 'build') tell(await build(args), `the site is in ${relative(root, site)}`)
else if (word === 'dev') preview(args)
else {
  console.error('npm run docs [-- build | check [page...] | dev]')
  process.exitCode = 2
}

async function checkPages(named: string[]): Promise<void> {
  const asked = named.map((path) => relative(root, resolve(path)).replaceAll('\\', '/'))
  const pages = (asked.length > 0 ? asked : pagesOf(root)).map(read)
  const { problems, compiled, ran } = await check(pages)
  tell(
    [...dead(pages), ...unknownCode(pages.filter(isInternal)), ...problems],
    `${compiled} samples of ${pages.length} pages compile, ${ran} that are run do what they say, and all links lead somewhere`,
  )
}

function tell(problems: Problem[], good: string): void {
  for (const { page, line, message } of problems) console.error(`${page}:${line}: ${message}`)
  console.log(problems.length > 0 ? `✗ problems: ${problems.length}` : `✓ ${good}`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
