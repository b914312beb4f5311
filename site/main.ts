// npm run docs -- check [page...]: compiles every sample of the pages, and runs those that ask for it.
import { relative, resolve } from 'node:path'
import { check } from './check.ts'
import { excused, pagesOf, read, root } from './page.ts'

const [word, ...args] = process.argv.slice(2)
if (word === 'check') await checkPages(args)
else {
  console.error('npm run docs -- check [page...]')
  process.exitCode = 2
}

async function checkPages(named: string[]): Promise<void> {
  const asked = named.map((path) => relative(root, resolve(path)).replaceAll('\\', '/'))
  const paths = asked.length > 0 ? asked : pagesOf(root).filter((path) => !(path in excused))
  const { problems, compiled, ran } = await check(paths.map(read))
  for (const { page, line, message } of problems) console.error(`${page}:${line}: ${message}`)
  console.log(
    problems.length > 0
      ? `✗ ${problems.length} problems in ${compiled} samples`
      : `✓ ${compiled} samples of ${paths.length} pages compile, and ${ran} that are run do what they say`,
  )
  process.exitCode = problems.length > 0 ? 1 : 0
}
