import { agent, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

interface Album {
  pages: string[]
  left: number
}

const press = agent('press')
const copy = press.action('copy', { run: (album: Album) => album })
const bind = press.action('bind', { run: ({ pages }: Album) => pages.join(' ') })
const album = workflow('album', {
  async run(given: Album, task) {
    const copied = await task.run(copy, given)
    if (copied.left > 0) return task.continueAsNew({ ...copied, left: copied.left - 1 })
    await task.sleep('10m')
    const bound = await task.run(bind, copied)
    const read = await task.waitForSignal<string>('read')
    return read === bound ? read : null
  },
})

const pages = Array.from({ length: 60 }, (_, page) => `page ${page}, ä "quoted"`)

/** Large values that are handed on: they are written once, and referred to where they come again. */
export const repeats: Feature = {
  name: 'repeat',
  workflows: [album],
  agents: [press],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(album, { pages, left: 1 }, { id: 'album' }) },
    { at: 1_000, do: ({ triarch }) => triarch.tasks.get('album').signal('read', pages.join(' ')) },
  ],
}
