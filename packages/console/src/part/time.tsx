import { signal } from '@preact/signals'
import { locale, moments, zone } from '../shell/preference.ts'

const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, 1_000)

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
]

/** How long ago, or until when, or the instant in full: as was chosen; the other where one points at it. */
export function Time({ at }: { at: string | undefined }) {
  if (at === undefined) return <>–</>
  const isInFull = moments.value === 'absolute'
  const [full, short] = [instant(at), relative(Date.parse(at) - now.value)]
  return (
    <time dateTime={at} title={isInFull ? short : full}>
      {isInFull ? full : short}
    </time>
  )
}

export function relative(ms: number): string {
  const [unit, size] = units.find(([, size]) => Math.abs(ms) >= size) ?? (['second', 1_000] as const)
  return new Intl.RelativeTimeFormat(locale(), { numeric: 'auto', style: 'short' }).format(Math.trunc(ms / size), unit)
}

/** In full. */
export function instant(at: string): string {
  const options = { dateStyle: 'medium', timeStyle: 'medium' } as const
  const chosen = zone.value === 'utc' ? { timeZone: 'UTC' } : {}
  const said = new Intl.DateTimeFormat(locale(), { ...options, ...chosen }).format(new Date(at))
  return zone.value === 'utc' ? `${said} UTC` : said
}

/** A span in its largest two units. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([count]) => count > 0)
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}
