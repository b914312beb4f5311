import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { View } from './view.ts'

/** What the store acknowledged of one feature, and what it came to. */
export interface Recording {
  feature: string
  /** Where the clock began (ms since the epoch). */
  began: number
  /** How many of the commits there were before each act of the script. */
  acts: number[]
  commits: Commit[]
  /** The tasks as they are shown after the last commit. */
  tasks: View[]
}

/** What came into the store, and went, all at once. */
export interface Commit {
  at: number
  records?: StoredRecord[]
  letters?: StoredLetter[]
  /** Letters that were taken out of the inbox, by their numbers. */
  taken?: number[]
}

/** A record of a task's history exactly as it is stored. */
export interface StoredRecord {
  task: string
  seq: number
  at: number
  events: string
}

/** A message in a task's inbox, likewise. */
export interface StoredLetter {
  id: number
  task: string
  control: boolean
  message: string
}

const room = import.meta.dirname

/** Folders of recordings, each named by the version that made them (`0.1`), the oldest first. */
export function editions(): string[] {
  const found = readdirSync(room).filter((name) => /^\d+\.\d+$/.test(name))
  return found.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
}

/** The features that are recorded in an edition. */
export function recorded(edition: string): string[] {
  const files = readdirSync(join(room, edition)).filter((name) => name.endsWith('.json'))
  return files.map((name) => name.slice(0, -'.json'.length)).sort()
}

export function fileOf(edition: string, feature: string): string {
  return join(room, edition, `${feature}.json`)
}

export function read(edition: string, feature: string): Recording {
  return JSON.parse(readFileSync(fileOf(edition, feature), 'utf8')) as Recording
}

/** The edition that holds the newest recording of a feature; undefined: it was never recorded. */
export function newest(feature: string): string | undefined {
  return editions().findLast((edition) => recorded(edition).includes(feature))
}

/** The recording as a file: one line for each record, letter and task, so that a difference can be read. */
export function textOf({ feature, began, acts, commits, tasks }: Recording): string {
  const line = (value: unknown) => JSON.stringify(value)
  const lines = (values: readonly unknown[], indent: string) => values.map((it) => `${indent}${line(it)}`).join(',\n')
  const listed = (name: string, values: readonly unknown[] | undefined) =>
    values ? `,\n     "${name}": [\n${lines(values, '       ')}\n     ]` : ''
  const blocks = commits.map(
    ({ at, records, letters, taken }) =>
      `    {"at": ${at}${listed('records', records)}${listed('letters', letters)}${taken ? `,\n     "taken": ${line(taken)}` : ''}}`,
  )
  const head = `  "feature": ${line(feature)},\n  "began": ${began},\n  "acts": ${line(acts)},`
  return `{\n${head}\n  "commits": [\n${blocks.join(',\n')}\n  ],\n  "tasks": [\n${lines(tasks, '    ')}\n  ]\n}\n`
}
