import { span } from '../part/time.tsx'
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

/** The bar of one step, with its attempts in it and the idle stretches that are cut. */
export function Track({
  bar,
  status,
  tried,
  scale,
}: {
  bar: Bar | undefined
  status: string
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
      {bar && <span class={`bar ${status}`} style={style(bar.from, bar.from + bar.size)} />}
      {tried.length > 1 &&
        tried.map(({ key, state, startedAt, endedAt }) =>
          startedAt === undefined ? null : (
            <span
              key={key}
              class={`try ${state}`}
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
