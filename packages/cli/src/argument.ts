import { readFileSync, statSync } from 'node:fs'
import { type Duration, type Json, readJson } from 'triarch'
import { milliseconds } from 'triarch/contract'
import { usage } from './exit.ts'
import type { Terminal } from './terminal.ts'

/** JSON as it was typed, from a file (`@path`), or from the standard input (`-`). */
export async function json(name: string, given: string, terminal: Terminal): Promise<Json> {
  const text = given === '-' ? await terminal.read() : given.startsWith('@') ? read(given.slice(1)) : given
  const found = readJson(text)
  if (!('problem' in found)) return found.value as Json
  throw usage(`${name} ${found.message}${found.problem === 'syntax' ? ` (a string needs its quotes: '"text"')` : ''}`)
}

/** The text of a file. */
export function read(path: string): string {
  return readFileSync(path, 'utf8')
}

/** What others of this machine may write they may replace. */
const WRITABLE = 0o022

/**
 * The key in a file. That others may read it is for whoever mounts it to say: secrets of containers are so. Throws NOT_FOUND and the like, and where
 * others may write it.
 */
export function readKey(path: string): string {
  if (process.platform !== 'win32' && (statSync(path).mode & WRITABLE) !== 0)
    throw usage(`${path}: others may change this key: chmod go-w ${path}`)
  return read(path).trim()
}

export function parseInstant(name: string) {
  return (text: string): Date => {
    const at = new Date(text)
    if (Number.isNaN(at.getTime()))
      throw usage(`${name}: "${text}" is no instant: give one such as 2026-11-22T10:00:00Z`)
    return at
  }
}

export function whole(name: string, least: number, most: number) {
  return (text: string): number => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (!(number >= least && number <= most)) throw usage(`${name}: give a whole number from ${least} to ${most}`)
    return number
  }
}

export function duration(name: string) {
  return (text: string): number => milliseconds((/^\d+$/.test(text) ? Number(text) : text) as Duration, name)
}

/** `name=value`, any number of times. */
export function pairs(name: string) {
  return (text: string, before: Record<string, string> = {}): Record<string, string> => {
    const at = text.indexOf('=')
    if (at < 1) throw usage(`${name}: give name=value`)
    return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
  }
}
