import { useState } from 'preact/hooks'
import { type Api, type ApiError, newKey, post } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { useRight } from '../api/right.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { GivenValue } from '../part/given.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { beginningOf, type Schema } from '../part/shape.ts'
import { ask, askAll, go, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'
import { useWorkflow } from '../workflows/known.ts'

type StartableVersion = Api['Workflows']['workflows'][number]['versions'][number]

/** Starts a task: of which workflow, with which input, under which id. */
export function Start() {
  const { search } = place.value
  const like = search.get('like')
  const may = useRight('start')
  const found = useQuery<Api['Workflows']>('/workflows?limit=100', null, { once: true })
  const history = useQuery<Api['History']>(
    like === null ? null : `/tasks/${encodeURIComponent(like)}/history?limit=1`,
    null,
    { once: true },
  )
  // Of many workflows the list has the first.
  const unlisted = useWorkflow(found.value?.next === undefined ? null : search.get('workflow'))
  if (found.error) return <Failure error={found.error} retry={found.reload} />
  if (history.error) return <Failure error={history.error} retry={history.reload} />
  if (!found.value || (like !== null && !history.value)) return <p>{t().loading}…</p>
  const startable = found.value.workflows.flatMap(({ name, versions }) =>
    versions.filter((it) => it.startable).map((it) => ({ name, ...it })),
  )
  const first = history.value?.records[0]?.events[0]
  const original = first?.type === 'submitted' ? first : null
  const name = search.get('workflow') ?? original?.workflow ?? startable[0]?.name ?? ''
  const listed = startable.filter((it) => it.name === name)
  const versions = listed.length > 0 || !unlisted ? listed : unlisted.versions.filter(({ startable }) => startable)
  const wanted = search.get('version') ?? original?.version
  const chosen = versions.find(({ version }) => version === wanted) ?? versions.at(-1)
  return (
    <>
      <p class="crumbs">
        <Link to="/tasks">{t().tasks}</Link>
      </p>
      <h1>{like === null ? t().start.title : t().start.like(like)}</h1>
      {!may && <p class="note bad">{t().one.needs('start')}</p>}
      {startable.length === 0 ? (
        <Empty text={t().start.none} snippet={'createServer(triarch, { workflows: [order], console: files })'} />
      ) : (
        <>
          <div class="columns start">
            <label class="field">
              {t().workflow}
              <select
                value={name}
                onChange={({ currentTarget }) => {
                  askAll({ version: null, workflow: currentTarget.value })
                }}
              >
                {!versions.length && <option value={name}>{name}</option>}
                {[...new Set(startable.map(({ name }) => name))].map((one) => (
                  <option key={one} value={one}>
                    {one}
                  </option>
                ))}
              </select>
            </label>
            {versions.length > 1 && (
              <label class="field">
                {t().version}
                <select value={chosen?.version} onChange={({ currentTarget }) => ask('version', currentTarget.value)}>
                  {versions.map(({ version }) => (
                    <option key={version} value={version}>
                      {version}
                    </option>
                  ))}
                </select>
              </label>
            )}
          </div>
          {found.value.next !== undefined && <p class="note">{t().start.notAll}</p>}
          {chosen ? (
            <Submission key={`${name} ${chosen.version}`} {...{ name, version: chosen, original, may }} />
          ) : (
            <p class="failure">{t().start.notHere(name)}</p>
          )}
        </>
      )}
    </>
  )
}

type Original = Extract<Api['HistoryEvent'], { type: 'submitted' }>

/** What is asked for besides the input, as it is typed. */
const plain = ['id', 'priority', 'startAt', 'completeBy'] as const

function Submission({
  name,
  version: { version, input: said },
  original,
  may,
}: {
  name: string
  version: StartableVersion
  original: Original | null
  may: boolean
}) {
  const schema = isSchema(said) ? said : null
  const isLike = original?.workflow === name
  const [given, give] = useState<{ value: unknown } | null>({
    value: isLike ? original.input : schema ? beginningOf(schema, schema) : null,
  })
  const [typed, type] = useState<Record<string, string>>({
    id: '',
    priority: isLike && original.priority !== undefined ? String(original.priority) : '',
    startAt: '',
    completeBy: '',
    tags: isLike ? linesOf(original.tags) : '',
  })
  const [state, set] = useState<'asking' | 'acting'>('asking')
  const [error, fail] = useState<ApiError | null>(null)
  // Sent again after an answer that did not come, it is the same task.
  const [key] = useState(() => newKey())
  const [isFrozen, freeze] = useState(isLike && original.frozen === true)
  const tags = tagsOf(typed.tags ?? '')
  const submit = async () => {
    set('acting')
    fail(null)
    const number = typed.priority?.trim() ?? ''
    const body = {
      ...{ workflow: name, version, input: given?.value ?? null, id: typed.id?.trim() || key },
      ...(number !== '' && { priority: /^-?\d+$/.test(number) ? Number(number) : number }),
      ...(tags !== null && Object.keys(tags).length > 0 && { tags }),
      ...Object.fromEntries(
        (['startAt', 'completeBy'] as const).flatMap((it) => (typed[it]?.trim() ? [[it, typed[it]?.trim()]] : [])),
      ),
      ...(typed.id?.trim() && { ifExists: 'reject' }),
      ...(isFrozen && { frozen: true }),
    }
    try {
      const task = await post<Api['Submitted']>('/tasks', body)
      if (task) go(taskPath(task.id))
    } catch (failed) {
      fail(failed as ApiError)
      set('asking')
    }
  }
  const issues = error?.issues ?? []
  const ofBody = (name: string) => issues.filter(({ path }) => path === `body.${name}`).map(({ message }) => message)
  return (
    <form
      class="start"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <h2>{t().input}</h2>
      <GivenValue {...{ title: t().input, schema, issues, value: given?.value }} onChange={give} />
      <h2>{t().start.how}</h2>
      <div class="columns">
        {plain.map((one) => (
          <div class="field" key={one}>
            <label>
              {t().start.fields[one]}
              <input
                value={typed[one]}
                aria-invalid={ofBody(one).length > 0}
                onInput={({ currentTarget: { value } }) => type({ ...typed, [one]: value })}
              />
            </label>
            <span class="note">{t().start.hints[one]}</span>
            {ofBody(one).map((message) => (
              <span key={message} class="note bad">
                {message}
              </span>
            ))}
          </div>
        ))}
        <div class="field">
          <label>
            {t().tags}
            <textarea
              rows={3}
              value={typed.tags}
              aria-invalid={tags === null}
              onInput={({ currentTarget: { value } }) => type({ ...typed, tags: value })}
            />
          </label>
          <span class={tags === null ? 'note bad' : 'note'}>{t().start.hints.tags}</span>
        </div>
        <div class="field check">
          <label>
            <input type="checkbox" checked={isFrozen} onChange={({ currentTarget: { checked } }) => freeze(checked)} />{' '}
            {t().start.frozen}
          </label>
          <span class="note">{t().start.hints.frozen}</span>
        </div>
      </div>
      {error && (
        <>
          {error.status === 403 && <p class="note bad">{t().forbidden}</p>}
          <Failure error={error} />
        </>
      )}
      <p class="buttons">
        <button
          type="submit"
          class="primary"
          disabled={!may || given === null || tags === null || state === 'acting'}
          title={may ? undefined : t().one.needs('start')}
        >
          {t().start.submit}
        </button>
      </p>
    </form>
  )
}

function isSchema(said: unknown): said is Schema {
  return typeof said === 'object' && said !== null && Object.keys(said).length > 0
}

function linesOf(tags: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(tags ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')
}

/** A line each: `name=value`; null: one is no such line. */
function tagsOf(said: string): Record<string, string> | null {
  const lines = said.split('\n').filter((line) => line.trim() !== '')
  const pairs = lines.map((line) => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1).trim()])
  if (lines.some((line) => line.indexOf('=') < 1)) return null
  return Object.fromEntries(pairs) as Record<string, string>
}
