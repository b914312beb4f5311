import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from './page.ts'
import type { CodeLine } from './sample.ts'

/**
 * A temporary folder in which samples find the packages of the workspace, and nothing else of it. It stands outside of the
 * repository, for Node runs no TypeScript that lies below node_modules, and what samples write is nobody's.
 */
export class Folder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'triarch-samples-'))

  constructor() {
    this.lend('node_modules', 'node_modules')
    this.write('package.json', '{ "type": "module" }')
  }

  /** Lets samples see something of the repository. */
  lend(path: string, at: string): void {
    mkdirSync(dirname(join(this.path, at)), { recursive: true })
    symlinkSync(join(root, path), join(this.path, at), 'junction')
  }

  write(path: string, content: string | CodeLine[]): void {
    const text = typeof content === 'string' ? content : content.map(({ text }) => `${text}\n`).join('')
    mkdirSync(dirname(join(this.path, path)), { recursive: true })
    writeFileSync(join(this.path, path), text)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 3 })
  }
}
