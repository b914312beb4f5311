import type { Json } from './json.ts'
import type { Redaction } from './redaction.ts'

/**
 * A value together with a copy that hides its secrets, for texts that reach both readers who may see them and readers who may not: a task's
 * output in its row and in the message to its parent.
 */
interface Veiled {
  /** The value with its secrets hidden. */
  '~veiled': Json
  value: Json
  /** Texts in the value that are secret. */
  texts: string[]
}

const MARK = '~veiled'
const BEGINNING = `{"${MARK}":`

/**
 * Veils a value; returns the value itself if nothing in it is secret. A plain value that looks like a veiled one is veiled too, so that it
 * is not mistaken for one.
 */
export function veil(value: Json, secrets: Redaction | null): Json {
  if (secrets === null) return looksVeiled(value) ? veiled(value, value, []) : value
  const shown = secrets.hide(value)
  const texts = secrets.texts.within(value)
  return shown === value && texts.length === 0 && !looksVeiled(value) ? value : veiled(shown, value, texts)
}

/** The parts of a veiled value. */
export function unveil(given: Json): { shown: Json; value: Json; texts: readonly string[] } {
  if (!looksVeiled(given)) return { shown: given, value: given, texts: [] }
  const { [MARK]: shown, value, texts } = given as unknown as Veiled
  return { shown, value, texts }
}

/** Whether a JSON text is that of a veiled value. */
export function isVeiled(text: string): boolean {
  return text.startsWith(BEGINNING)
}

function veiled(shown: Json, value: Json, texts: string[]): Json {
  return { [MARK]: shown, value, texts } satisfies Veiled as unknown as Json
}

function looksVeiled(value: Json): boolean {
  return typeof value === 'object' && value !== null && MARK in value
}
