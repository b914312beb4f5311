import { alert } from './said/alert.ts'
import { type Details, health } from './said/health.ts'
import { problem } from './said/problem.ts'

/**
 * What the server says, in another language: by its codes, and by what its sentences are made of. What is not there the server says itself, in
 * English.
 */
interface SaidTexts {
  health: Readonly<Record<string, (of: Details) => string>>
  alert: Readonly<Record<string, (subject: string) => string>>
  problem: Readonly<Record<string, string>>
}

const en: SaidTexts = { health: {}, alert: {}, problem: { UNREACHABLE: 'The server gives no answer.' } }
const de: SaidTexts = { health, alert, problem }

/** By language. */
export const said = { en, de }
