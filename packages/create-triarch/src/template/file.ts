import type { Template } from './template.ts'

const app = `import { agent, Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'

interface Order {
  id: string
  amount: number
}

// An agent wraps one remote service. Each action is a step that is tried again, and undone if the task cannot finish.
export const bank = agent('bank')
const charge = bank.action('charge', {
  run: async ({ id, amount }: Order) => ({ receipt: \`\${id}-\${amount}\` }),
  undo: async ({ output }) => console.log('refunded', output.receipt),
})

// A workflow is ordinary code. Whatever dies on the way, it goes on from its last step.
export const fulfil = workflow('fulfil', {
  async run(order: Order, task) {
    const { receipt } = await task.run(charge, order)
    return receipt
  },
})

// Not where \`triarch dev\` loads the file for what it exports.
if (import.meta.main) {
  await using triarch = new Triarch({ store: sqlite('tasks.db'), workflows: [fulfil], agents: [bank] })
  await triarch.start()
  const task = await triarch.submit(fulfil, { id: 'order-1', amount: 10 }, { id: 'order-1' })
  console.log('receipt', await task.result())
}
`

/** One file. */
export const file: Template = {
  about: 'one file, on SQLite',
  dependencies: [
    'triarch',
    '@triarch/cli',
    '@triarch/client',
    '@triarch/console',
    '@triarch/postgres',
    '@triarch/server',
  ],
  scripts: { start: 'node app.ts', dev: 'triarch dev app.ts --store tasks.db' },
  files: {
    'app.ts': app,
    'README.md': `# One file

\`npm start\` runs a task that charges a bank. Its history is in \`tasks.db\`: started again, the same id is the same task, and nothing is charged twice.

\`npm run dev\` runs what \`app.ts\` exports, again after each change, and serves the console: start tasks there, and see what they do.
`,
  },
}
