import { afterEach, describe, expect, it } from 'vitest'
import { agent, type Codec, compress, type Role, Triarch, workflow } from '../../src/index.ts'
import { isVeiled } from '../../src/kernel/veiled.ts'
import type { StateStore } from '../../src/store/port.ts'
import { replayHistory } from '../../src/testing/index.ts'
import type { Shared } from './breaker.suite.ts'
import { seen } from './harness.ts'

interface Album {
  title: string
  pages: string[]
}

const album: Album = { title: 'secret', pages: Array.from({ length: 200 }, (_, page) => `page ${page}: ä "quoted"`) }
const size = JSON.stringify(album).length

/** What a value meets that is handed on, where large ones are written once. Real time. */
export function repeatSuite(name: string, make: () => Promise<Shared>): void {
  describe(name, () => {
    const nodes: Triarch[] = []
    let shared: Shared | null = null

    afterEach(async () => {
      for (const node of nodes.splice(0)) await node.stop({ grace: 0 })
      await shared?.dispose()
    })

    async function course(codec: Codec[], secrets: string[]) {
      const undone: unknown[] = []
      const given: unknown[] = []
      const press = agent('press')
      const print = press.action('print', {
        secrets,
        run: (input: Album) => {
          given.push(structuredClone(input))
          const output = structuredClone(input)
          // What an action does to its input is nobody else's.
          input.pages.length = 0
          return output
        },
        undo: ({ output }) => void undone.push(output),
      })
      const flow = workflow('flow', {
        async run(input: Album, task) {
          const first = await task.run(print, input)
          const end = await task.waitForSignal<string>('go')
          const second = await task.run(print, first)
          if (end === 'fail') throw new Error('no')
          return second
        },
      })
      shared = await make()
      let written = 0
      let raw: StateStore | null = null
      const store = seen(shared.store, (inner) => {
        raw = inner
        return {
          commit: (batch) => {
            for (const { events } of batch) written += events?.length ?? 0
            return inner.commit(batch)
          },
        }
      })
      const start = async (roles?: Role[]) => {
        const node = new Triarch({
          store,
          codec,
          workflows: [flow],
          agents: [press],
          poll: 50,
          lease: '2s',
          ...(roles && { roles }),
        })
        nodes.push(node)
        await node.start()
        return node
      }
      const one = await start()
      await one.submit(flow, album, { id: 'good' })
      await one.submit(flow, album, { id: 'bad' })
      for (const id of ['good', 'bad'])
        await expect
          .poll(async () => (await one.tasks.get(id).history()).at(-1)?.events.at(-1)?.type)
          .toBe('waitStarted')
      await one.stop({ grace: 0 })
      const other = await start()
      await other.tasks.get('good').signal('go', 'on')
      await other.tasks.get('bad').signal('go', 'fail')
      expect(await other.tasks.get('good').result({ timeout: '1m' })).toEqual(album)
      await expect(other.tasks.get('bad').result({ timeout: '1m' })).rejects.toMatchObject({ code: 'TASK_COMPENSATED' })
      const row = async (id: string) => raw?.task(id)
      return { flow, other, given, undone, written: () => written, row, outside: await start([]) }
    }

    it.each([
      ['as it is', [], []],
      ['compressed', [compress({ above: 0 })], []],
      ['with a secret in it', [], ['title']],
    ])(
      'is kept once and is the same for steps, undo, views and whoever takes over: %s',
      async (_, codec, secrets) => {
        const { flow, other, given, undone, written, row, outside } = await course(codec, secrets)
        expect(given).toEqual([album, album, album, album])
        expect(undone).toEqual([album, album])
        const hidden = secrets.length > 0 ? { ...album, title: '•••' } : album
        const history = (await other.tasks.get('good').history()).flatMap(({ events }) => events)
        const said = (type: string) => history.find((event) => event.type === type)
        expect(said('submitted')).toMatchObject({ input: { pages: album.pages } })
        expect(history.filter(({ type }) => type === 'stepRequested')).toMatchObject([
          { input: hidden },
          { input: hidden },
        ])
        expect(history.filter(({ type }) => type === 'stepCompleted')).toMatchObject([
          { output: hidden },
          { output: hidden },
        ])
        expect(said('stopped')).toMatchObject({ output: { pages: album.pages } })
        const moment = await other.tasks.get('good').moment(2)
        expect(JSON.stringify(moment.events)).toContain('page 199')
        expect(await replayHistory(await other.tasks.get('bad').export(), [flow])).not.toHaveProperty('error')
        // The row names the record: whoever reads it is given the output all the same. With a secret in it, the row has what may be shown as well.
        const { output } = (await row('good')) ?? {}
        if (secrets.length > 0) expect(isVeiled(output ?? '')).toBe(true)
        else expect(output).toMatch(/^@\d+\.\d\.(input|output)$/)
        expect(await outside.tasks.get('good').result()).toEqual(album)
        expect(await outside.tasks.get('good').status()).toMatchObject({
          outcome: 'success',
          output: { pages: album.pages },
        })
        // Lists and streams leave out what is large, and say so.
        const left = { id: 'good', output: undefined, omitted: ['output'] }
        expect((await outside.tasks.list({ outcome: 'success' })).tasks).toMatchObject([left])
        for await (const info of outside.tasks.get('good').watch()) expect(info.output).toEqual(hidden)
        if (codec.length + secrets.length === 0) expect(written()).toBeLessThan(2 * size + 6_000)
      },
      120_000,
    )
  })
}
