// An agent that is to be killed: node agent.process.ts URL
import { agent, connectAgents } from 'triarch'

const mail = agent('mail')
mail.action('wait', {
  run: async (_: string) => {
    console.log('began')
    await new Promise(() => undefined)
  },
  verify: async () => ({ done: 'unknown' }),
})
const { connected } = connectAgents(process.argv[2] ?? '', { agents: [mail] })
await connected
console.log('connected')
