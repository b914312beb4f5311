import type { SettingChangeOptions, SettingHandle, SettingInfo, SettingSetOptions } from 'triarch'
import { z } from 'zod'
import type { Principal } from '../options.ts'
import {
  Setting,
  SettingAdvance,
  SettingHistory,
  SettingPage,
  SettingPart,
  SettingRollback,
  SettingValue,
  SettingWord,
} from '../wire/setting.ts'
import { given, type Route, reply, route } from './route.ts'

const reading = 'settings:read'
const writing = 'settings:write'
const answers = { 200: { description: 'The setting as it is now', schema: Setting } } as const

const list = route({
  method: 'GET',
  path: '/settings',
  id: 'listSettings',
  summary: 'Settings by name, a page at a time: those that were ever changed, and those that this engine knows.',
  query: z.strictObject({ cursor: z.string().max(200).optional(), limit: z.int().min(1).max(1_000).optional() }),
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: SettingPage } },
  right: reading,
  async run({ query }, { triarch }) {
    return reply(200, await triarch.settings.list(given(query)))
  },
})

const get = route({
  method: 'GET',
  path: '/settings/{name}',
  id: 'getSetting',
  summary:
    'A setting as it stands: what the store says, what is on trial, what this engine makes of it, who runs what.',
  answers: { 200: { description: 'The setting', schema: Setting } },
  problems: [404],
  right: reading,
  async run({ params }, { triarch }) {
    return reply(200, await triarch.settings.get(params.name).info())
  },
})

const history = route({
  method: 'GET',
  path: '/settings/{name}/history',
  id: 'getSettingHistory',
  summary: 'What was ever done to a setting, the last first, a page at a time.',
  query: z.strictObject({ cursor: z.int().min(1).optional(), limit: z.int().min(1).max(1_000).optional() }),
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: SettingHistory } },
  right: reading,
  async run({ params, query }, { triarch }) {
    return reply(200, await triarch.settings.get(params.name).history(given(query)))
  },
})

const set = route({
  method: 'PUT',
  path: '/settings/{name}',
  id: 'setSetting',
  summary: 'What the store says from now on: everywhere at once, or with `stages` on some nodes first.',
  body: SettingValue,
  answers,
  problems: [404, 409, 422],
  right: writing,
  async run({ params, body: { value, ...options }, principal }, { triarch }) {
    const handle: SettingHandle = triarch.settings.get(params.name)
    return reply(200, await handle.set(value, wordOf<SettingSetOptions>(options, principal)))
  },
})

function act<B extends z.ZodType>(
  name: string,
  summary: string,
  body: B,
  work: (handle: SettingHandle<Record<string, unknown>>, body: z.output<B>) => Promise<SettingInfo>,
): Route {
  return route({
    method: 'POST',
    path: `/settings/{name}/${name}`,
    id: `${name}Setting`,
    summary,
    body,
    answers,
    problems: [404, 409, 422],
    right: writing,
    async run({ params, body, principal }, { triarch }) {
      const handle = triarch.settings.get<Record<string, unknown>>((params as { name: string }).name)
      return reply(200, await work(handle, wordOf(body as object, principal) as z.output<B>))
    },
  })
}

/** Who asks is who the server knows, whatever the body says. */
function wordOf<O extends SettingChangeOptions>(said: object, principal: Principal | null): O {
  return given({ ...said, ...(principal && { actor: principal.id }) }) as O
}

export const settings: readonly Route[] = [
  list,
  get,
  history,
  set,
  act(
    'change',
    'Of an object only these properties are others; null: the store says nothing of that one any more.',
    SettingPart,
    (handle, { part, ...options }) => handle.change(part, options as SettingSetOptions),
  ),
  act('advance', 'A value on trial goes on: to the next stage, or with `all` everywhere.', SettingAdvance, (it, body) =>
    it.advance(body as SettingChangeOptions),
  ),
  act(
    'rollback',
    'A value on trial is taken back; else the value before the last one, or that of version `to`, counts again.',
    SettingRollback,
    (handle, body) => handle.rollback(body as SettingChangeOptions),
  ),
  act('clear', 'The store says nothing any more: the layers below count.', SettingWord, (handle, body) =>
    handle.clear(body as SettingChangeOptions),
  ),
]
