import type { Api } from '../api/client.ts'
import { t } from '../shell/preference.ts'

/** What the server said of an error: what its code means in the language that was chosen, as far as that is known, and its own words. */
export function Said({
  code,
  message,
  isOurs = false,
}: {
  code: string | undefined
  message: string
  isOurs?: boolean
}) {
  const meaning = isOurs || code === undefined ? undefined : t().said.problem[code]
  if (meaning === undefined) return <>{message}</>
  return (
    <>
      {meaning}{' '}
      <span class="own" lang="en">
        {message}
      </span>
    </>
  )
}

/** What a check found. */
export function Found({ of: { code, details, message } }: { of: Api['Health']['checks'][number] }) {
  const says = code === undefined ? undefined : t().said.health[code]
  return <>{says ? says(details ?? {}) : (message ?? '')}</>
}

/** What an alert is about: its figures are in its own words. */
export function Alarm({ of: { rule, subject, message } }: { of: Api['Alert'] }) {
  const says = t().said.alert[rule]
  if (!says) return <>{message}</>
  return (
    <>
      {says(subject)}{' '}
      <span class="own faint" lang="en">
        {message}
      </span>
    </>
  )
}
