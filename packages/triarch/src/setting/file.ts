import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { TriarchError } from '../error/error.ts'
import { objectOf } from '../store/legible.ts'

/** Largest size of the file (bytes). */
const LARGEST = 4 * 1024 * 1024

/** The stored version and value of each setting. */
export type Remembered = Readonly<Record<string, { version: number; value: unknown }>>

interface SettingsFile {
  format: 1
  /** SHA-256 of `values`, in hexadecimal. */
  checksum: string
  /** The values as JSON, exactly as hashed. */
  values: string
}

/** The last good values of one process, for starts while the store is unreachable. */
export class SettingFile {
  readonly #path: string
  #written: string | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** Reads the file; null: there is none. Throws INVALID_SETTING if the file is damaged or was not written by this class. */
  read(): Remembered | null {
    const text = this.#text()
    if (text === null) return null
    const kept = objectOf<SettingsFile>(text)
    const sound = kept?.format === 1 && typeof kept.values === 'string' && kept.checksum === checksumOf(kept.values)
    const values = sound ? objectOf<Remembered>(kept.values) : null
    if (!values)
      throw new TriarchError(
        'INVALID_SETTING',
        `${this.#path} does not hold settings as they were written: its checksum differs`,
      )
    this.#written = kept?.values ?? null
    return values
  }

  /** Replaces the file atomically. Throws INVALID_SETTING if it would be too large, and errors of the file system. */
  write(remembered: Remembered): void {
    const values = JSON.stringify(remembered)
    if (values === this.#written) return
    const kept: SettingsFile = { format: 1, checksum: checksumOf(values), values }
    const text = JSON.stringify(kept)
    if (Buffer.byteLength(text) > LARGEST)
      throw new TriarchError(
        'INVALID_SETTING',
        `the settings take more than the ${LARGEST} bytes that ${this.#path} may have`,
      )
    const aside = `${this.#path}.${process.pid}.new`
    try {
      const file = openSync(aside, 'w', 0o600)
      try {
        writeSync(file, text)
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
      renameSync(aside, this.#path)
    } catch (error) {
      rmSync(aside, { force: true })
      throw error
    }
    this.#written = values
  }

  #text(): string | null {
    let file: number
    try {
      file = openSync(this.#path, 'r')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
    try {
      const bytes = Buffer.alloc(LARGEST + 1)
      let size = 0
      for (let read = 1; read > 0 && size <= LARGEST; size += read)
        read = readSync(file, bytes, size, bytes.length - size, null)
      if (size > LARGEST) throw new TriarchError('INVALID_SETTING', `${this.#path} has more than ${LARGEST} bytes`)
      return bytes.toString('utf8', 0, size)
    } finally {
      closeSync(file)
    }
  }
}

function checksumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
