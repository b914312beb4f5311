import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { type ApiError, parse, text } from '../api/client.ts'
import { t } from '../shell/preference.ts'
import { Dialog } from './dialog.tsx'
import { Failure } from './failure.tsx'

/** Something that an operator is about to do. */
export interface Deed {
  title: string
  /** What will happen. */
  will: string
  /** What is asked for besides a reason: text, or JSON with what it is now. */
  fields?: { name: string; label: string; json?: boolean; initial?: unknown; optional?: boolean }[]
  isReasonNeeded?: boolean
  isRisky?: boolean
  /** There is nothing to do it to. */
  isImpossible?: boolean
  /** Throws ApiError. */
  act: (given: Record<string, unknown>) => Promise<unknown>
}

export const deed = signal<Deed | null>(null)

/** Asks for what it needs, says what will happen, and shows what came of it. */
export function Asking() {
  return deed.value && <Form key={deed.value.title} of={deed.value} />
}

function Form({ of }: { of: Deed }) {
  const { fields = [] } = of
  const [given, set] = useState<Record<string, string>>(
    Object.fromEntries(fields.map(({ name, json, initial }) => [name, json ? text(initial ?? null, 2) : ''])),
  )
  const [reason, setReason] = useState('')
  const [state, setState] = useState<'asking' | 'acting' | 'done'>('asking')
  const [error, setError] = useState<ApiError | null>(null)
  const isBroken = ({ name, json }: { name: string; json?: boolean }) => json && !isJson(given[name] ?? '')
  const isMissing =
    of.isImpossible ||
    fields.some((field) => isBroken(field) || (!field.json && !field.optional && !given[field.name])) ||
    (of.isReasonNeeded && reason.trim() === '')
  const close = () => {
    deed.value = null
  }
  const act = async () => {
    setState('acting')
    setError(null)
    const values = fields.map(({ name, json, initial }) => {
      const said = given[name] ?? ''
      // What was not changed is not sent.
      const isSame = json && said === text(initial ?? null, 2)
      return [name, isSame ? undefined : json ? parse(said) : said || undefined] as const
    })
    try {
      await of.act(
        Object.fromEntries(
          [...values, ['reason', reason.trim() || undefined] as const].filter(([, it]) => it !== undefined),
        ),
      )
      setState('done')
    } catch (failed) {
      setError(failed as ApiError)
      setState('asking')
    }
  }
  return (
    <Dialog title={of.title} onClose={close}>
      {state === 'done' ? (
        <>
          <p role="status">✓ {t().taken}</p>
          <p class="buttons">
            <button type="button" class="primary" onClick={close}>
              {t().close}
            </button>
          </p>
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void act()
          }}
        >
          <p>{of.will}</p>
          {fields.map((field) => (
            <label class="field" key={field.name}>
              {field.label}
              {field.json ? (
                <textarea
                  rows={8}
                  spellcheck={false}
                  aria-invalid={isBroken(field) === true}
                  value={given[field.name]}
                  onInput={({ currentTarget: { value } }) => set({ ...given, [field.name]: value })}
                />
              ) : (
                <input
                  value={given[field.name]}
                  onInput={({ currentTarget: { value } }) => set({ ...given, [field.name]: value })}
                />
              )}
              {isBroken(field) && <span class="note bad">{t().notJson}</span>}
              {field.json && !isBroken(field) && given[field.name] !== text(field.initial ?? null, 2) && (
                <span class="note">{t().changed}</span>
              )}
            </label>
          ))}
          <label class="field">
            {t().reason}
            <input
              value={reason}
              placeholder={t().reasonHint}
              onInput={({ currentTarget }) => setReason(currentTarget.value)}
            />
          </label>
          {error && (
            <>
              {error.status === 403 && <p class="note bad">{t().forbidden}</p>}
              <Failure error={error} />
            </>
          )}
          <p class="buttons">
            <button type="button" onClick={close}>
              {t().cancelled}
            </button>
            <button
              type="submit"
              class={of.isRisky ? 'primary risky' : 'primary'}
              disabled={isMissing || state === 'acting'}
            >
              {of.title}
            </button>
          </p>
        </form>
      )}
    </Dialog>
  )
}

function isJson(said: string): boolean {
  try {
    JSON.parse(said)
    return true
  } catch {
    return false
  }
}
