import { useState } from 'preact/hooks'
import { type Issue, parse, text } from '../api/client.ts'
import { t } from '../shell/preference.ts'
import { Field } from './form.tsx'
import type { Schema } from './shape.ts'

/** A value as fields, where its schema is known, or as JSON; one can change between the two. `null` as a change: it is no JSON. */
export function GivenValue({
  title,
  schema,
  value,
  onChange,
  issues,
}: {
  title: string
  schema: Schema | null
  value: unknown
  onChange: (given: { value: unknown } | null) => void
  issues: readonly Issue[]
}) {
  const [typed, type] = useState<string | null>(schema === null ? text(value ?? null, 2) : null)
  const isBroken = typed !== null && !isJson(typed)
  const change = () => {
    if (typed === null) return type(text(value ?? null, 2))
    type(null)
  }
  const everywhere = typed === null ? issues.filter(({ path }) => path === '') : issues
  return (
    <div class="given">
      {schema !== null && (
        <p class="buttons">
          <button type="button" class="small" disabled={isBroken} onClick={change}>
            {typed === null ? t().start.asJson : t().start.asForm}
          </button>
        </p>
      )}
      {typed === null && schema !== null ? (
        <Field {...{ schema, root: schema, title, value, issues }} onChange={(next) => onChange({ value: next })} />
      ) : (
        <label class="field">
          {title} (JSON)
          <textarea
            rows={10}
            spellcheck={false}
            aria-invalid={isBroken || everywhere.length > 0}
            value={typed ?? ''}
            onInput={({ currentTarget: { value: said } }) => {
              type(said)
              onChange(isJson(said) ? { value: parse(said) } : null)
            }}
          />
          {isBroken && <span class="note bad">{t().notJson}</span>}
          {everywhere.map(({ path, message }) => (
            <span key={`${path} ${message}`} class="note bad">
              {path !== '' && <code>{path}</code>} {message}
            </span>
          ))}
        </label>
      )}
    </div>
  )
}

export function isJson(said: string): boolean {
  try {
    JSON.parse(said)
    return true
  } catch {
    return false
  }
}
