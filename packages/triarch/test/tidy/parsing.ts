import type { Source } from './source.ts'

/**
 * Where `JSON.parse` may stand by itself, and what it reads there: text that this project's own code wrote. Text of outside is read by
 * `readJson` (value/json.ts), which bounds its depth and refuses numbers that would be rounded.
 */
export const ownTexts: Readonly<Record<string, string>> = {
  'packages/cli/src/profile.ts': 'its own file of profiles, which only its owner may read',
  'packages/client/src/answer.ts': 'answers of our server, written from values that were checked',
  'packages/client/src/stream.ts': 'events of our server, likewise',
  'packages/console/src/api/client.ts': 'answers of our server, in a browser: large whole numbers stay what they are',
  'packages/console/src/part/given.tsx': 'whether what is typed is JSON: the server reads it',
  'packages/console/src/task/graph/group.ts': 'keys that it made itself',
  'packages/console/src/tasks/views.tsx': "the browser's own storage",
  'packages/server/src/route/system.ts': 'a copy of what it wrote itself',
  'packages/triarch/src/cache/action-cache.ts': 'rows of the store',
  'packages/triarch/src/cache/shared-cache.ts': 'rows of the store',
  'packages/triarch/src/agent/threads.ts': "details of an error, written by the thread's own code and cut right after",
  'packages/triarch/src/client/stored-schedule.ts': 'a copy of a definition that was checked',
  'packages/triarch/src/scheduler/effect.ts': 'rows of the store',
  'packages/triarch/src/statistics/tally.ts': 'keys that it made itself',
  'packages/triarch/src/supervisor/schedule.ts': 'rows of the store',
  'packages/triarch/src/testing/trial.ts': 'what it wrote itself',
  'packages/triarch/src/value/json.ts': 'here outside text is read, behind the bounds',
  'packages/triarch/src/value/token.ts': 'an array of a task, a step and a key, each of which is checked',
  'packages/triarch/src/wire/failure.ts': 'answers of our server, whose values were checked, to those who trust it',
  'packages/triarch/src/wire/peer.ts': 'what another node of the same store wrote',
  'packages/triarch/src/wire/ticket.ts': 'an array of texts and whole numbers, each of which is checked',
}
/** Rows of the store, and what its threads say to each other. */
const stores = ['packages/postgres/src/', 'packages/triarch/src/store/']

/** Bare calls of `JSON.parse` outside of these, and reasons that are not needed. */
export function bareParsing(sources: readonly Pick<Source, 'path' | 'code'>[], own = ownTexts): string[] {
  const bare = new Set(sources.filter(({ code }) => /\bJSON\s*\.\s*parse\b/.test(code)).map(({ path }) => path))
  const unlisted = [...bare].filter((path) => !(path in own) && !stores.some((place) => path.startsWith(place)))
  return [
    ...unlisted.map((path) => `${path}: read text of outside by readJson(), or say in tidy/parsing.ts what it is`),
    ...Object.keys(own)
      .filter((path) => !bare.has(path))
      .map((path) => `${path}: has no JSON.parse, take it off the list`),
  ]
}
