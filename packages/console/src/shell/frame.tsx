import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { isLockedOut } from '../api/client.ts'
import { isPaused, liveness } from '../api/live.ts'
import { useRights } from '../api/right.ts'
import { Asking } from '../part/asking.tsx'
import { Empty } from '../part/empty.tsx'
import { Link } from '../part/link.tsx'
import { Door } from './door.tsx'
import { Fence } from './fence.tsx'
import { isSheetOpen, listen, Sheet } from './keys.tsx'
import { isThere, pageOf, pages } from './pages.ts'
import { isPaletteOpen, Palette } from './palette.tsx'
import { nameIn, place } from './place.ts'
import { language, moments, t, theme, zone } from './preference.ts'

/** So much of the name before it is seen (px). */
const BESIDE = 48
const named = pages.filter(({ isLed }) => !isLed)

/** What stands around every page. */
export function Frame() {
  useLayoutEffect(listen, [])
  useRights()
  const asked = pageOf(place.value.path)
  const known = asked && isThere(asked.page)
  const found = known ? asked : null
  const title = found ? (t()[found.page.name] as string) : '404'
  const one = found && found.page.path !== place.value.path ? `${nameIn(place.value.path)} · ` : ''
  useEffect(() => {
    document.title = `${one}${title} · Triarch`
  }, [one, title])
  // Who came by keyboard goes on with what is new, and a reader begins there.
  const came = useRef(place.value.path)
  useEffect(() => {
    if (came.current === place.value.path) return
    came.current = place.value.path
    document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true })
  }, [place.value.path])
  // On narrow screens the names of the pages are moved sideways.
  const names = useRef<HTMLElement>(null)
  useEffect(() => {
    const [nav, here] = [names.current, names.current?.querySelector<HTMLElement>('[aria-current]')]
    if (nav && here) nav.scrollLeft = here.offsetLeft - nav.offsetLeft - BESIDE
  }, [found?.page, named.filter(isThere).length])
  const Shown = found?.component
  return (
    <>
      <a class="skip" href="#main">
        {t().skipToContent}
      </a>
      <header class="top">
        <Link to="/" class="brand">
          <Mark />
          Triarch
        </Link>
        <nav ref={names} aria-label={t().pages}>
          {named.filter(isThere).map(({ name, path, key }) => (
            <Link
              key={path}
              to={path}
              title={`g ${key}`}
              {...(found?.page.path === path && { 'aria-current': 'page' as const })}
            >
              {t()[name] as string}
            </Link>
          ))}
        </nav>
        <div class="tools">
          <button
            type="button"
            class={isPaused.value ? 'toggle on' : 'toggle'}
            aria-pressed={isPaused.value}
            onClick={() => pauseOrGoOn()}
            title="r"
          >
            <span class={`dot ${liveness.value}`} aria-hidden="true" />
            {isPaused.value ? t().goOn : t().pause}
          </button>
          <button
            type="button"
            class="quiet"
            title={t().palette.title}
            onClick={() => {
              isPaletteOpen.value = true
            }}
          >
            <span class="sr">{t().palette.title} </span>
            <kbd>Ctrl K</kbd>
          </button>
          <button
            type="button"
            class="quiet"
            title={t().keys}
            onClick={() => {
              isSheetOpen.value = true
            }}
          >
            <span class="sr">{t().keys} </span>
            <kbd>?</kbd>
          </button>
        </div>
      </header>
      {isPaused.value ? (
        <p class="banner" role="status">
          {t().paused}
        </p>
      ) : liveness.value === 'stale' ? (
        <p class="banner bad" role="status">
          {t().stale}
        </p>
      ) : null}
      <main id="main" tabIndex={-1}>
        {Shown ? (
          <Fence key={place.value.path}>
            <Shown />
          </Fence>
        ) : asked && known === null ? null : (
          <Lost />
        )}
      </main>
      <footer>
        <Choice label={t().theme} of={theme} names={t().themes} />
        <Choice label={t().habits.moments} of={moments} names={t().habits.momentsAs} />
        <Choice label={t().times} of={zone} names={t().zones} />
        <Choice label={t().language} of={language} names={{ en: 'English', de: 'Deutsch' }} />
      </footer>
      {isSheetOpen.value && <Sheet />}
      {isPaletteOpen.value && <Palette />}
      <Asking />
      {isLockedOut.value && <Door />}
    </>
  )
}

function pauseOrGoOn(): void {
  isPaused.value = !isPaused.value
  liveness.value = isPaused.value ? 'paused' : 'live'
}

function Choice<T extends string>({
  label,
  of,
  names,
}: {
  label: string
  of: { value: T }
  names: Readonly<Record<T, string>>
}) {
  return (
    <label>
      {label}
      <select
        value={of.value}
        onChange={({ currentTarget }) => {
          of.value = currentTarget.value as T
        }}
      >
        {(Object.keys(names) as T[]).map((value) => (
          <option key={value} value={value}>
            {names[value]}
          </option>
        ))}
      </select>
    </label>
  )
}

function Lost() {
  return (
    <>
      <h1>404</h1>
      <Empty text={t().noPage} />
    </>
  )
}

function Mark() {
  return (
    <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      <path d="M12 3 21 19H3Z" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round" />
      <circle cx="12" cy="3.6" r="2.4" fill="currentColor" />
      <circle cx="3.6" cy="19" r="2.4" fill="currentColor" />
      <circle cx="20.4" cy="19" r="2.4" fill="currentColor" />
    </svg>
  )
}
