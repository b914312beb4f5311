import type { Template } from './template.ts'

const definitions = `import { agent, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'

/** All processes of this machine share the file; on several machines, take postgres() of @triarch/postgres. */
export const store = sqlite(process.env.TASKS ?? 'tasks.db')

export const mail = agent('mail')
const send = mail.action('send', { run: async (to: string) => \`sent to \${to} by \${process.pid}\` })

export const welcome = workflow('welcome', { run: (to: string, task) => task.run(send, to) })
`
const node = (what: string, options: string) => `import { stopOnSignals, Triarch } from 'triarch'
import { mail, store, welcome } from './definitions.ts'

// ${what}
const triarch = new Triarch({ store, ${options} })
stopOnSignals(triarch)
await triarch.start()
console.log('started')
`
const submit = `import { Triarch } from 'triarch'
import { store, welcome } from './definitions.ts'

await using triarch = new Triarch({ store })
const task = await triarch.submit(welcome, process.argv[2] ?? 'ada')
console.log(await task.result({ timeout: '1m' }))
`

/** The roles apart. */
export const processes: Template = {
  about: 'schedulers and agents in processes of their own',
  dependencies: ['triarch'],
  scripts: {
    start: 'node src/scheduler.ts & node src/agent.ts & wait',
    scheduler: 'node src/scheduler.ts',
    agent: 'node src/agent.ts',
    submit: 'node src/submit.ts',
  },
  files: {
    'src/definitions.ts': definitions,
    'src/scheduler.ts': node(
      'Runs the code of workflows, and watches over all.',
      "workflows: [welcome], roles: ['scheduler', 'supervisor']",
    ).replace('mail, store', 'store'),
    'src/agent.ts': node(
      'Calls the service; as many of these as it takes.',
      "agents: [mail], roles: ['agent']",
    ).replace('store, welcome', 'store'),
    'src/submit.ts': submit,
    'README.md': `# Several processes

\`npm run scheduler\`, \`npm run agent\` (as often as you like), each in a terminal; then \`npm run submit ada\`. Kill any of them: the task goes on.
`,
  },
}
