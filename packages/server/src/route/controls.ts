import type { TaskHandle, Triarch } from 'triarch'
import type { z } from 'zod'
import { keyOf } from '../request/key.ts'
import { Cancel, Compensate, Pause, Resume, Retry, Signal, Skip, Thaw, Token, TokenUse } from '../wire/control.ts'
import { given, type Route, reply, route } from './route.ts'

/** It is durable; it happens when a scheduler takes the task up. */
const taken = { 202: { description: 'It is recorded, and happens when a scheduler takes the task up' } } as const

const key = { 'Idempotency-Key': 'Names the request: sent again, it changes nothing.' } as const

/** For a token that is not to be in a URL. */
const HEADER = 'Triarch-Token'

function control<B extends z.ZodType>(
  name: string,
  summary: string,
  body: B,
  act: (task: TaskHandle, body: z.output<B>) => Promise<void>,
): Route {
  return route({
    method: 'POST',
    path: `/tasks/{id}/${name}`,
    id: `${name}Task`,
    summary,
    body,
    answers: taken,
    problems: [404, 409, 422],
    headers: key,
    async run({ params, body, headers, principal }, { triarch }) {
      const task = triarch.tasks.get((params as { id: string }).id)
      const once = keyOf(headers)
      // Who asks is who the server knows, whatever the body says.
      const actor = principal ? { actor: principal.id } : {}
      await act(once === undefined ? task : task.once(once), { ...(body as object), ...actor } as z.output<B>)
      return reply(202)
    },
  })
}

const resumed = {
  answers: { 202: { description: 'It is recorded: the step runs again as soon as it is suspended' } },
  problems: [404, 409, 410, 422, 429],
  open: true,
} as const

/** The token is who asks: the audit says so. */
async function resume(triarch: Triarch, token: string, body: z.output<typeof Token>, headers: Headers) {
  const { value = null, ...options } = body
  const terms = given({ ...options, once: keyOf(headers) })
  await triarch.serving.acting({ actor: 'token' }, () => triarch.tasks.resume(token, value, terms))
  return reply(202)
}

const token = route({
  ...{ method: 'POST', path: '/tokens', id: 'resumeStep', ...resumed },
  summary:
    'Gives the step that handed out a token a signal. The token, in the header `Triarch-Token` or in the body, is the right to do so, and to nothing else.',
  body: TokenUse,
  headers: { ...key, [HEADER]: 'The token, where the body does not have it.' },
  async run({ body: { token: given, ...body }, headers }, { triarch }) {
    return resume(triarch, given ?? headers.get(HEADER) ?? '', body, headers)
  },
})

const tokenPath = route({
  ...{ method: 'POST', path: '/tokens/{token}', id: 'resumeStepByPath', ...resumed },
  summary: 'The same for callers that can be given a URL only. Proxies and access logs see a token that is in a path.',
  body: Token,
  headers: key,
  async run({ params, body, headers }, { triarch }) {
    return resume(triarch, params.token, body, headers)
  },
})

export const controls: readonly Route[] = [
  control('cancel', 'Stops the task, and undoes what is done.', Cancel, (task, body) => task.cancel(given(body))),
  control('pause', 'No new step starts until the task is resumed.', Pause, (task, body) => task.pause(given(body))),
  control('resume', 'The task goes on; steps that wait for an operator are tried again.', Resume, (task, body) =>
    task.resume(given(body)),
  ),
  control(
    'retry',
    'Tries again: held steps of a paused task, or a stopped task from its failed step.',
    Retry,
    (task, body) => task.retry(given(body)),
  ),
  control('skip', 'Goes on without a step that failed.', Skip, (task, body) => task.skip(given(body))),
  control('compensate', 'Undoes a task that succeeded.', Compensate, (task, body) => task.compensate(given(body))),
  control('thaw', 'A task that was submitted frozen may begin.', Thaw, (task, { startAt, ...said }) =>
    task.thaw({ ...given(said), ...(startAt !== undefined && { startAt: new Date(startAt) }) }),
  ),
  {
    ...control(
      'signal',
      'Sends the task a signal, which is kept until it asks for it.',
      Signal,
      (task, { name, payload, ...said }) => task.signal(name, payload ?? null, given(said)),
    ),
    problems: [404, 409, 422, 429],
  },
  token,
  tokenPath,
]
