// Files that are made, and committed, so that a change of them is seen where changes are read.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Texts by their paths in the repository. */
export type Files = ReadonlyMap<string, string>

/** These files, and in these folders no others. */
export function write(root: string, folders: readonly string[], files: Files): void {
  for (const path of found(root, folders)) if (!files.has(path)) rmSync(join(root, path))
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

/** How what is committed differs from what is made. */
export function check(root: string, folders: readonly string[], files: Files): string[] {
  const differ = [...files].filter(([path, text]) => text !== committed(root, path))
  const differences = differ.map(
    ([path, text]) => `${path} is not what the declarations say:\n${difference(root, path, text)}`,
  )
  const gone = found(root, folders).filter((path) => !files.has(path))
  differences.push(...gone.map((path) => `${path} is about an entry that is gone`))
  const advice = 'If this change of the API is meant: npm run api, and commit what it writes.'
  return differences.length > 0 ? [...differences, advice] : []
}

function found(root: string, folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    try {
      return readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)
    } catch {
      return []
    }
  })
}

function committed(root: string, path: string): string {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return ''
  }
}

function difference(root: string, path: string, text: string): string {
  const args = ['diff', '--no-index', '--no-color', '--', path, '-']
  const { stdout } = spawnSync('git', args, { cwd: root, input: text, encoding: 'utf8' })
  return stdout || `(it has ${text.split('\n').length} lines)`
}
