import { useId, useState } from 'preact/hooks'
import { type Issue, parse, text } from '../api/client.ts'
import { t } from '../shell/preference.ts'
import { beginningOf, pathOf, type Schema, type Shape, shapeOf } from './shape.ts'

interface FieldProps {
  schema: Schema
  /** Where its references lead. */
  root: Schema
  title: string
  /** Undefined: nothing is given. */
  value: unknown
  onChange: (value: unknown) => void
  /** What the server found wrong, by its path. */
  issues: readonly Issue[]
  path?: string
  isNeeded?: boolean
  depth?: number
}

/** A field, or a form of fields, for a value of a schema. What is wrong is said at the field that it is of. */
export function Field({ path = '', depth = 0, isNeeded = true, ...given }: FieldProps) {
  const { schema, root, title, value, onChange, issues } = given
  const shape = shapeOf(schema, root, title, depth)
  const id = useId()
  const wrong = issues.filter((issue) => issue.path === path)
  const label = `${shape.title}${isNeeded && !shape.isOptional ? '' : ` (${t().start.optional})`}`
  const described = wrong.length > 0 ? { 'aria-describedby': `${id}-wrong`, 'aria-invalid': true } : {}
  const below = (
    <>
      {shape.note !== null && <span class="note">{shape.note}</span>}
      {wrong.length > 0 && (
        <span class="note bad" id={`${id}-wrong`}>
          {wrong.map(({ message }) => message).join(' ')}
        </span>
      )}
    </>
  )
  if (shape.kind === 'object') return <Fields {...{ ...given, path, depth, shape, isNeeded, below }} />
  if (shape.kind === 'list') return <List {...{ ...given, path, depth, shape, isNeeded, below }} />
  if (shape.kind === 'switch')
    return (
      <div class="field check">
        <label>
          <input
            type="checkbox"
            checked={value === true}
            {...described}
            onChange={({ currentTarget }) => onChange(currentTarget.checked)}
          />{' '}
          {label}
        </label>
        {below}
      </div>
    )
  return (
    <div class="field">
      <label>
        {label}
        {shape.kind === 'choice' ? (
          <Choice {...{ shape, value, onChange, described, isNeeded }} />
        ) : shape.kind === 'text' ? (
          <Text {...{ shape, value, onChange, described, isNeeded }} />
        ) : shape.kind === 'number' ? (
          <Figure {...{ shape, value, onChange, described, isNeeded }} />
        ) : (
          <Raw {...{ value, onChange, described, isNeeded }} />
        )}
      </label>
      {below}
    </div>
  )
}

interface Simple {
  value: unknown
  onChange: (value: unknown) => void
  described: object
  isNeeded: boolean
}

function Choice({ shape, value, onChange, described, isNeeded }: Simple & { shape: Shape & { kind: 'choice' } }) {
  return (
    <select
      {...described}
      value={value === undefined ? '' : text(value)}
      onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? undefined : parse(currentTarget.value))}
    >
      {(value === undefined || !isNeeded) && <option value="">{t().start.nothing}</option>}
      {shape.isOptional && <option value="null">{t().start.nothing}</option>}
      {shape.values.map((one) => (
        <option key={text(one)} value={text(one)}>
          {typeof one === 'string' ? one : text(one)}
        </option>
      ))}
    </select>
  )
}

const inputs: Readonly<Record<string, string>> = { email: 'email', uri: 'url', date: 'date' }

/** What is empty is not given, unless it must be. */
function Text({ shape, value, onChange, described, isNeeded }: Simple & { shape: Shape & { kind: 'text' } }) {
  const said = typeof value === 'string' ? value : ''
  const given = {
    value: said,
    ...described,
    onInput: ({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
      onChange(value === '' && !isNeeded ? undefined : value === '' && shape.isOptional ? null : value),
  }
  if ((shape.most ?? 0) > 300) return <textarea rows={4} {...given} />
  return (
    <input
      type={inputs[shape.format ?? ''] ?? 'text'}
      placeholder={shape.format === 'date-time' ? '2026-12-24T18:00:00Z' : undefined}
      {...given}
    />
  )
}

/** To the last digit; what is no number is sent as it stands, and refused. */
function Figure({ shape, value, onChange, described, isNeeded }: Simple & { shape: Shape & { kind: 'number' } }) {
  const [typed, type] = useState(value === undefined || value === null ? '' : String(value))
  const change = (said: string) => {
    type(said)
    if (said.trim() === '') return onChange(isNeeded && !shape.isOptional ? undefined : isNeeded ? null : undefined)
    onChange(/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(said.trim()) ? parse(normal(said.trim())) : said)
  }
  return (
    <input
      inputMode={shape.isWhole ? 'numeric' : 'decimal'}
      value={typed}
      {...described}
      onInput={({ currentTarget }) => change(currentTarget.value)}
    />
  )
}

/** JSON has no zeros before a number. */
function normal(said: string): string {
  return said.replace(/^(-?)0+(?=\d)/, '$1')
}

function Raw({ value, onChange, described, isNeeded }: Simple) {
  const [typed, type] = useState(value === undefined ? '' : text(value, 2))
  const [isBroken, breaks] = useState(false)
  return (
    <>
      <textarea
        rows={4}
        spellcheck={false}
        value={typed}
        {...described}
        {...(isBroken && { 'aria-invalid': true })}
        onInput={({ currentTarget: { value: said } }) => {
          type(said)
          if (said.trim() === '') {
            breaks(false)
            return onChange(isNeeded ? null : undefined)
          }
          try {
            onChange(parse(said))
            breaks(false)
          } catch {
            breaks(true)
            // Not what was there before: the server says that this is no such value.
            onChange(said)
          }
        }}
      />
      {isBroken && <span class="note bad">{t().notJson}</span>}
    </>
  )
}

interface Nested extends FieldProps {
  path: string
  depth: number
  isNeeded: boolean
  below: preact.ComponentChildren
}

function Fields({
  shape,
  root,
  value,
  onChange,
  issues,
  path,
  depth,
  isNeeded,
  below,
}: Nested & { shape: Shape & { kind: 'object' } }) {
  const it = isObject(value) ? value : null
  const isThere = it !== null || (isNeeded && !shape.isOptional)
  const fields = shape.fields.map(({ name, schema, isNeeded }) => (
    <Field
      key={name}
      {...{
        schema,
        root,
        title: name,
        issues,
        isNeeded,
        value: it?.[name],
        depth: depth + 1,
        path: pathOf(path, name),
      }}
      onChange={(next) => {
        const { [name]: _, ...rest } = it ?? {}
        // In the order of the schema, whatever is filled in first.
        const all = next === undefined ? rest : { ...rest, [name]: next }
        onChange(Object.fromEntries(sorted(Object.entries(all), shape)))
      }}
    />
  ))
  if (path === '')
    return (
      <>
        {fields}
        {below}
      </>
    )
  return (
    <fieldset>
      <legend>
        {isNeeded && !shape.isOptional ? (
          shape.title
        ) : (
          <label>
            <input
              type="checkbox"
              checked={isThere}
              onChange={({ currentTarget: { checked } }) =>
                onChange(checked ? {} : shape.isOptional && isNeeded ? null : undefined)
              }
            />{' '}
            {shape.title}
          </label>
        )}
      </legend>
      {isThere && fields}
      {below}
    </fieldset>
  )
}

function sorted(entries: [string, unknown][], { fields }: Shape & { kind: 'object' }): [string, unknown][] {
  const place = new Map(fields.map(({ name }, index) => [name, index]))
  return entries.toSorted(([one], [other]) => (place.get(one) ?? fields.length) - (place.get(other) ?? fields.length))
}

function List({
  shape,
  root,
  value,
  onChange,
  issues,
  path,
  depth,
  below,
}: Nested & { shape: Shape & { kind: 'list' } }) {
  const items = Array.isArray(value) ? (value as unknown[]) : []
  return (
    <fieldset>
      <legend>{shape.title}</legend>
      {items.map((item, index) => (
        // What stands where is all that tells them apart.
        <div class="item" key={index}>
          <Field
            {...{ schema: shape.of, root, title: String(index + 1), issues, value: item, depth: depth + 1 }}
            path={pathOf(path, index)}
            onChange={(next) => onChange(items.with(index, next ?? null))}
          />
          <button type="button" class="small" onClick={() => onChange(items.toSpliced(index, 1))}>
            {t().start.remove(index + 1)}
          </button>
        </div>
      ))}
      <button
        type="button"
        class="small"
        onClick={() => onChange([...items, beginningOf(shape.of, root, depth + 1) ?? null])}
      >
        {t().start.add}
      </button>
      {below}
    </fieldset>
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
