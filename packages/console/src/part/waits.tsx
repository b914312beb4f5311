import type { Api } from '../api/client.ts'
import { t } from '../shell/preference.ts'
import { Time } from './time.tsx'

type Wait = Api['TaskWait']

/** The first ones are shown each by itself: a row is one line, or two. */
const SHOWN = 2

/** For what a task waits in a line, or what keeps it there: a chip for each, told in full where one points at it or reads it aloud. */
export function Waits({ of = [] }: { of: readonly Wait[] | undefined }) {
  const others = of.slice(SHOWN)
  return (
    <>
      {of.slice(0, SHOWN).map((wait) => (
        <span key={`${wait.code} ${wait.of}`} class={`wait ${wait.code}`} title={wait.text}>
          {t().waits[wait.code]} <b>{wait.of}</b>
          {wait.until !== undefined && (
            <>
              {' '}
              {t().why.until} <Time at={wait.until} />
            </>
          )}
        </span>
      ))}
      {others.length > 0 && (
        <span class="faint" title={others.map(({ text }) => text).join('\n')}>
          {t().waits.more(others.length)}
        </span>
      )}
    </>
  )
}
