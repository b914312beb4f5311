import { agent, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const vault = agent('vault')
const open = vault.action('open', {
  secrets: ['code', 'gold'],
  run: ({ code }: { code: string }, step) => ({
    gold: code.length,
    of: step.metadata.tenant ?? 'nobody',
    attempt: 'first',
  }),
})
const inner = workflow('inner', { run: async (_: null, task) => task.metadata.tenant })
const robbery = workflow('robbery', {
  secrets: ['code'],
  async run(input: { code: string; who: string }, task) {
    const { gold, of } = await task.run(open, { code: input.code })
    return { gold, of, who: input.who, inner: await task.call(inner, null, { metadata: { step: 'two' } }) }
  },
})

/** Secrets in inputs and outputs; tags, priority and metadata of a submission. */
export const secrets: Feature = {
  name: 'secret',
  workflows: [robbery, inner],
  agents: [vault],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(robbery, { code: '1234', who: 'me' }, { id: 'robbery', priority: 7, tags: { by: 'night' }, metadata: { tenant: 'acme' } }) }, // biome-ignore format: one line
  ],
}
