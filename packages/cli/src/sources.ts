import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { timer } from './environment.ts'

/** How long changes are gathered (ms): an editor does several things to save a file. */
const GATHERED = 100
const SOURCE = /\.(?:[cm]?[jt]sx?|json)$/

/**
 * Files that are watched for changes. What is watched is their folders: an editor that saves a file by renaming another over it leaves a watch of the
 * file itself at one that is not there any more. A file counts as changed when its content was written or another took its place, and not while it is
 * missing, as it is for a moment when it is replaced.
 */
export class Sources {
  readonly #changed: (path: string, known: boolean) => void
  readonly #files = new Map<string, string | null>()
  readonly #folders = new Map<string, FSWatcher>()
  readonly #others = new Set<string>()
  #timer: (() => void) | null = null

  /** `changed`: called with the first file that did; not `known`: with a source beside those that are watched. */
  constructor(changed: (path: string, known: boolean) => void) {
    this.#changed = changed
  }

  add(path: string): void {
    if (this.#files.has(path)) return
    this.#files.set(path, stamp(path))
    const folder = dirname(path)
    if (this.#folders.has(folder)) return
    try {
      const watcher = watch(folder, (_, name) => this.#look(name))
      // A folder that goes is watched again with the next of its files.
      watcher.on('error', () => this.#folders.delete(folder))
      this.#folders.set(folder, watcher)
    } catch {
      // It is not there.
    }
  }

  /** Watches nothing any more. */
  close(): void {
    this.#timer?.()
    for (const watcher of this.#folders.values()) watcher.close()
    this.#folders.clear()
    this.#files.clear()
  }

  #look(name: string | null): void {
    if (name !== null && SOURCE.test(name)) this.#others.add(name)
    this.#timer ??= timer(GATHERED, () => {
      this.#timer = null
      this.#compare()
    })
  }

  #compare(): void {
    const others = [...this.#others]
    this.#others.clear()
    const changed: string[] = []
    for (const [path, before] of this.#files) {
      const now = stamp(path)
      if (now === null || now === before) continue
      this.#files.set(path, now)
      changed.push(path)
    }
    const [first] = changed
    if (first !== undefined) this.#changed(first, true)
    else {
      const names = new Set([...this.#files.keys()].map((path) => basename(path)))
      const other = others.find((name) => !names.has(name))
      if (other !== undefined) this.#changed(other, false)
    }
  }
}

/** What is another after each change of the file; null: it is not there. */
function stamp(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : null
}
