import type { Json } from './json.ts'
import type { Redaction } from './redaction.ts'

/**
 * A value with secrets in it, where one text goes both to those who may have it and to those who may not: the output of a task in its row, and in
 * what its parent is told.
 */
interface Veiled {
  /** The value as it may be shown. */
  '~veiled': Json
  value: Json
  /** Texts in the value that are secret. */
  texts: string[]
}

const MARK = '~veiled'
const BEGINNING = `{"${MARK}":`

/** The value itself where nothing of it is secret. One that only looks veiled is veiled, so that it is not taken for another. */
export function veil(value: Json, secrets: Redaction | null): Json {
  if (secrets === null) return looksVeiled(value) ? veiled(value, value, []) : value
  const shown = secrets.hide(value)
  const texts = secrets.texts.within(value)
  return shown === value && texts.length === 0 && !looksVeiled(value) ? value : veiled(shown, value, texts)
}

/** What was veiled. */
export function unveil(given: Json): { shown: Json; value: Json; texts: readonly string[] } {
  if (!looksVeiled(given)) return { shown: given, value: given, texts: [] }
  const { [MARK]: shown, value, texts } = given as unknown as Veiled
  return { shown, value, texts }
}

/** Whether the JSON text is that of a veiled value. */
export function isVeiled(text: string): boolean {
  return text.startsWith(BEGINNING)
}

function veiled(shown: Json, value: Json, texts: string[]): Json {
  return { [MARK]: shown, value, texts } satisfies Veiled as unknown as Json
}

function looksVeiled(value: Json): boolean {
  return typeof value === 'object' && value !== null && MARK in value
}
