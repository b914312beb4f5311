// What lists that are watched may show together, with a bound that a few tasks reach.
import { expect, it, vi } from 'vitest'
import { events, opened } from './events.ts'
import { shop } from './shop.ts'

const MOST = vi.hoisted(() => 12_000)
vi.mock('../../triarch/src/client/shown.ts', async (original) => {
  const real = await original<typeof import('../../triarch/src/client/shown.ts')>()
  class ShownTasks extends real.ShownTasks {
    constructor() {
      super(MOST)
    }
  }
  return { ...real, ShownTasks }
})

it('a list for which there is no room is refused with WATCH_FULL, and those that are watched go on', async () => {
  await using here = await shop()
  await here.triarch.start()
  const submit = (id: string) => here.ask('POST', '/tasks', { workflow: 'approval', id, input: null, frozen: true })
  await submit('a')
  await using small = await opened(here, '/tasks/events?filter=id:a')
  expect(await small.next()).toMatchObject({ event: 'page' })
  for (let n = 0; n < 12; n++) await submit(`b-${n}`)
  const refused = await here.ask('GET', '/tasks/events?filter=workflow:approval')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await refused.json()).toMatchObject({ code: 'WATCH_FULL' })
  // The one that was there is told what changes, and there is room for another small one.
  await here.ask('POST', '/tasks/a/cancel', { reason: 'a test' })
  expect(await small.until('task', ({ id }) => id === 'a')).toMatchObject({ event: 'task' })
  await using other = await opened(here, '/tasks/events?filter=id:b-1')
  expect(await other.next()).toMatchObject({ event: 'page' })
})

it('a list that grows beyond what there is room for ends with WATCH_FULL, and its room is free again', async () => {
  await using here = await shop()
  await here.triarch.start()
  const submit = (id: string) => here.ask('POST', '/tasks', { workflow: 'approval', id, input: null, frozen: true })
  await using growing = await opened(here, '/tasks/events?filter=workflow:approval')
  for (let n = 0; n < 12; n++) await submit(`b-${n}`)
  expect((await events(growing)).at(-1)).toMatchObject({ event: 'end', data: { code: 'WATCH_FULL', again: true } })
  await using other = await opened(here, '/tasks/events?filter=id:b-1')
  expect(await other.next()).toMatchObject({ event: 'page' })
})
