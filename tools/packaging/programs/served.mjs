// A program of a user's: node served.mjs. It says its URL, and ends with its input.
import { createServer } from '@triarch/server'
import { PermanentError, Triarch, workflow } from 'triarch'
import { memory } from 'triarch/testing'

const flow = workflow('flow', {
  rescue: 'fail',
  async run(n) {
    if (typeof n !== 'number') throw new PermanentError('no number')
    return n + 1
  },
})

async function main() {
  const triarch = new Triarch({ store: memory(), workflows: [flow], notices: false })
  await triarch.start()
  const server = createServer(triarch, { workflows: [flow] })
  const { url } = await server.listen({ port: 0, signals: [] })
  console.log(url)
  for await (const _ of process.stdin);
  await server.close()
  await triarch.stop()
}

void main()
