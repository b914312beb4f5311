import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, parse, text } from '../api/client.ts'
import { t } from '../shell/preference.ts'
import { Copy } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { differences } from './difference.ts'
import { Failure } from './failure.tsx'
import { GivenValue, isJson } from './given.tsx'
import { beginningOf, type Schema } from './shape.ts'

/** Something that an operator is about to do. */
export interface Deed {
  title: string
  /** What will happen. */
  will: string
  /** What is asked for besides a reason. */
  fields?: DeedField[]
  isReasonNeeded?: boolean
  isRisky?: boolean
  /** What it makes was not there before, for somebody else to change it. */
  isNew?: boolean
  /** There is nothing to do it to. */
  isImpossible?: boolean
  /** Throws ApiError. What it gives may say later what came of it. */
  act: (given: Record<string, unknown>) => Promise<unknown>
}

export interface DeedField {
  name: string
  label: string
  /** JSON with what it is now; else text. */
  json?: boolean
  /** What stands there at first. */
  initial?: unknown
  optional?: boolean
  /** It can be filled in by fields. */
  schema?: Schema | undefined
  /** What one may mean. */
  options?: readonly string[]
  /** Some of these are taken: their names, with a space between. */
  choices?: readonly DeedChoice[]
}

export interface DeedChoice {
  name: string
  does: string
  /** It is there, and cannot be taken. */
  isBarred?: boolean
}

/** What came of something that was recorded first: where it stands in the history, and why it came to nothing, if it did. */
export interface Outcome {
  record: number
  ignored: string | null
}

/** Of what is recorded, somebody sees later what came of it; null: nobody has taken it up yet. */
export class LaterOutcome {
  readonly outcome: Promise<Outcome | null>

  constructor(outcome: Promise<Outcome | null>) {
    this.outcome = outcome
  }
}

/** What is shown this once, and never again. */
export class Secret {
  readonly secret: string

  constructor(secret: string) {
    this.secret = secret
  }
}

export const deed = signal<Deed | null>(null)

/** Asks for what it needs, says what will happen, and shows what came of it. */
export function Asking() {
  return deed.value && <Form key={deed.value.title} of={deed.value} />
}

function Form({ of }: { of: Deed }) {
  const { fields = [] } = of
  const [given, set] = useState<Record<string, string>>(
    Object.fromEntries(
      fields.map((field) => [field.name, field.json ? text(beginning(field), 2) : String(field.initial ?? '')]),
    ),
  )
  const [reason, setReason] = useState('')
  const [state, setState] = useState<'asking' | 'acting' | 'done'>('asking')
  const [error, setError] = useState<ApiError | null>(null)
  const [later, setLater] = useState<LaterOutcome | null>(null)
  const [secret, show] = useState<Secret | null>(null)
  const isBroken = ({ name, json }: DeedField) => json && !isJson(given[name] ?? '')
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
    const values = fields.map((field) => {
      const said = given[field.name] ?? ''
      // What was not changed is not sent; what has a schema is, for there was nothing before.
      const isSame = field.json && !field.schema && said === text(beginning(field), 2)
      return [field.name, isSame ? undefined : field.json ? parse(said) : said || undefined] as const
    })
    try {
      const came = await of.act(
        Object.fromEntries(
          [...values, ['reason', reason.trim() || undefined] as const].filter(([, it]) => it !== undefined),
        ),
      )
      if (came instanceof LaterOutcome) setLater(came)
      if (came instanceof Secret) show(came)
      setState('done')
    } catch (failed) {
      setError(failed as ApiError)
      setState('asking')
    }
  }
  return (
    <Dialog title={of.title} onClose={close} isKept={secret !== null}>
      {secret ? (
        <Shown of={secret} close={close} />
      ) : state === 'done' ? (
        <>
          <p role="status">✓ {t().taken}</p>
          {later && <Came of={later} />}
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
            <Asked
              key={field.name}
              field={field}
              error={error}
              said={given[field.name] ?? ''}
              say={(value) => set({ ...given, [field.name]: value })}
            />
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
              {error.status === 409 && !of.isNew && <p class="note bad">{t().acting.quicker}</p>}
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

function beginning({ initial, schema }: DeedField): unknown {
  return initial ?? (schema ? (beginningOf(schema, schema) ?? null) : null)
}

/** One field; of JSON that was there before, what is changed in it. */
function Asked({
  field,
  said,
  say,
  error,
}: {
  field: DeedField
  said: string
  say: (said: string) => void
  error: ApiError | null
}) {
  const { label, name, json, schema, options, choices } = field
  if (choices) return <Chosen label={label} choices={choices} said={said} say={say} />
  if (json && schema)
    return (
      <GivenValue
        {...{ title: label, schema, issues: error?.issues ?? [], value: isJson(said) ? parse(said) : undefined }}
        onChange={(given) => say(given ? text(given.value ?? null, 2) : '')}
      />
    )
  const isBroken = json === true && !isJson(said)
  const now = json && !isBroken ? parse(said) : undefined
  const changes = json && !isBroken && field.initial !== undefined ? differences(field.initial, now) : []
  return (
    <>
      <label class="field">
        {label}
        {json ? (
          <textarea
            rows={8}
            spellcheck={false}
            aria-invalid={isBroken}
            value={said}
            onInput={({ currentTarget: { value } }) => say(value)}
          />
        ) : (
          <input
            value={said}
            {...(options && { list: `${name}-options` })}
            onInput={({ currentTarget: { value } }) => say(value)}
          />
        )}
        {isBroken && <span class="note bad">{t().notJson}</span>}
      </label>
      {options && (
        <datalist id={`${name}-options`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
      {changes.length > 0 && (
        <section class="changes" aria-label={t().changed}>
          <h3>{t().changed}</h3>
          <ul>
            {changes.map(({ path, before, after }) => (
              <li key={path}>
                {path !== '' && <code>{path}</code>} <del>{before === undefined ? '–' : text(before)}</del>{' '}
                <ins>{after === undefined ? '–' : text(after)}</ins>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function Chosen({
  label,
  choices,
  said,
  say,
}: {
  label: string
  choices: readonly DeedChoice[]
  said: string
  say: (said: string) => void
}) {
  const taken = said.split(' ')
  return (
    <fieldset class="choices">
      <legend>{label}</legend>
      {choices.map(({ name, does, isBarred }) => (
        <label key={name} class={isBarred ? 'faint' : undefined}>
          <input
            type="checkbox"
            checked={taken.includes(name)}
            disabled={isBarred}
            onChange={({ currentTarget: { checked } }) =>
              say(
                choices
                  .map((one) => one.name)
                  .filter((one) => (one === name ? checked : taken.includes(one)))
                  .join(' '),
              )
            }
          />
          <span>
            <code>{name}</code> {does}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** It is gone with this window: nothing but its own button closes it. */
function Shown({ of: { secret }, close }: { of: Secret; close: () => void }) {
  const element = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => element.current?.select(), [])
  return (
    <>
      <p role="status">{t().key.once}</p>
      <label class="field">
        {t().key.secret}
        <textarea ref={element} rows={3} readOnly autoComplete="off" spellcheck={false} value={secret} />
      </label>
      <p class="buttons">
        <Copy text={secret} />
        <button type="button" class="primary" onClick={close}>
          {t().key.kept}
        </button>
      </p>
    </>
  )
}

/** What came of it, once somebody has taken it up. */
function Came({ of }: { of: LaterOutcome }) {
  const [came, set] = useState<Outcome | null | undefined>(undefined)
  useEffect(() => {
    let isWanted = true
    of.outcome.then(
      (it) => isWanted && set(it),
      () => isWanted && set(null),
    )
    return () => {
      isWanted = false
    }
  }, [of])
  if (came === undefined) return <p class="note">{t().acting.awaited}…</p>
  if (came === null) return <p class="note">{t().acting.later}</p>
  return came.ignored === null ? (
    <p class="note" role="status">
      {t().acting.came(came.record)}
    </p>
  ) : (
    <p class="note bad" role="alert">
      {t().acting.ignored(came.ignored)}
    </p>
  )
}
