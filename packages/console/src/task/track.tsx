import { instant, span } from '../part/time.tsx'
import { ask, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'
import type { Attempt } from './attempt.ts'
import { type Bar, type Extract, extractOf, moved, type Scale } from './timeline.ts'

/** What is seen of the time line, by the address. */
export function extractHere(): Extract {
  return extractOf(place.value.search.get('zoom'))
}

/** Larger, smaller, to the left, to the right, all of it; and idle time in full. */
export function Zoom({ scale, isCut }: { scale: Scale; isCut: boolean }) {
  const extract = extractHere()
  const isAll = extract.from === 0 && extract.to === 1
  const show = (next: Extract | null) => ask('zoom', next && `${round(next.from)}-${round(next.to)}`, { replace: true })
  const ways = [
    ['‹', t().one.left, extract.from === 0, () => show(moved(extract, 'left'))],
    ['›', t().one.right, extract.to === 1, () => show(moved(extract, 'right'))],
    ['+', t().graph.larger, false, () => show(moved(extract, 'larger'))],
    ['−', t().graph.smaller, isAll, () => show(moved(extract, 'smaller'))],
    ['⤢', t().graph.all, isAll, () => show(null)],
  ] as const
  return (
    <p class="buttons zoom" role="group" aria-label={t().timeline}>
      {(scale.cuts.length > 0 || !isCut) && (
        <label class="note">
          <input
            type="checkbox"
            checked={!isCut}
            onChange={({ currentTarget }) => ask('idle', currentTarget.checked ? 'full' : null)}
          />{' '}
          {t().one.idleInFull}
        </label>
      )}
      {ways.map(([sign, name, isOff, act]) => (
        <button key={sign} type="button" class="small" aria-label={name} title={name} disabled={isOff} onClick={act}>
          {sign}
        </button>
      ))}
    </p>
  )
}

/** So many instants are written below the time line, where they differ: it is as long as this (ms). */
const TICKS = 5
const LEAST = 10

/** Below the bars: when that was, counted from the beginning; the instant in full where one points at it. */
export function Axis({ scale }: { scale: Scale }) {
  const { from, to } = extractHere()
  const start = scale.instantAt(0)
  if (scale.instantAt(to) - scale.instantAt(from) < LEAST) return null
  return (
    <div class="row axis" aria-hidden="true">
      <span />
      <span />
      <span class="ticks">
        {Array.from({ length: TICKS }, (_, n) => {
          const at = scale.instantAt(from + ((to - from) * n) / (TICKS - 1))
          return (
            <span key={n} title={instant(new Date(at).toISOString())}>
              {at <= start ? '0' : `+${span(at - start)}`}
            </span>
          )
        })}
      </span>
      <span />
      <span />
    </div>
  )
}

/** The bar of one step, with its attempts in it and the idle stretches that are cut. */
export function Track({
  bar,
  status,
  tried,
  scale,
  isHeld,
}: {
  bar: Bar | undefined
  status: string
  /** It does not run: something keeps it back, or somebody is waited for. */
  isHeld: boolean
  tried: readonly Attempt[]
  scale: Scale
}) {
  const { from, to } = extractHere()
  const place = (share: number) => ((share - from) / (to - from)) * 100
  const style = (begins: number, ends: number) => ({
    left: `${place(begins)}%`,
    width: `max(3px, ${place(ends) - place(begins)}%)`,
  })
  return (
    <span class="track" aria-hidden="true">
      {scale.cuts.map(({ at, ms }) => (
        <span key={at} class="cut" title={t().one.idle(span(ms))} style={{ left: `${place(at)}%` }} />
      ))}
      {bar && (
        <span
          class={`bar ${status}${isHeld && bar.isOpen ? ' held' : ''}`}
          style={style(bar.from, bar.from + bar.size)}
        />
      )}
      {tried.length > 1 &&
        tried.map(({ key, operation, state, startedAt, endedAt }) =>
          startedAt === undefined ? null : (
            <span
              key={key}
              class={`try ${state}`}
              title={`${t().one.operations[operation]}: ${span(Date.parse(endedAt) - Date.parse(startedAt))}`}
              style={style(scale.shareOf(Date.parse(startedAt)), scale.shareOf(Date.parse(endedAt)))}
            />
          ),
        )}
    </span>
  )
}

function round(share: number): number {
  return Math.round(share * 1e6) / 1e6
}
