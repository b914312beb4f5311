import cronstrue from 'cronstrue'
import 'cronstrue/locales/de.js'

/** A pattern of cron in plain words; null: there are none for such a one. */
export function inWords(cron: string, locale: string): string | null {
  try {
    return cronstrue.toString(cron, { locale, use24HourTimeFormat: true, verbose: false })
  } catch {
    return null
  }
}
