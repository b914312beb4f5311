import { type Cases, flow, planned } from './case.ts'

/** Which parts of a file are workflow code: asked by a rule whose complaints are easy to see. */
export const whatIsWorkflowCode: Cases = {
  rule: 'no-clock',
  valid: [
    { name: 'code beside the workflow may read the clock', code: flow('return 1', 'export const began = Date.now()') },
    {
      name: 'a function that no workflow calls may read the clock',
      code: flow('return 1', 'export function stamp() { return Date.now() }'),
    },
    { name: 'an action may', code: "bank.action('charge', { run: () => Date.now(), undo() { new Date() } })" },
    { name: 'a local step may', code: flow("return task.run('stamp', () => Date.now())") },
    { name: 'the undo of a local step may', code: flow("return task.run('stamp', read, { undo: () => Date.now() })") },
    { name: 'a transaction may', code: flow("return task.transaction('stamp', async (tx) => tx.put(Date.now()))") },
    { name: 'what undoes may', code: flow('task.undo(async () => { console.log(new Date()) })') },
    {
      name: 'the source of a batch may',
      code: flow("return task.batch('all', { workflow: one, items: () => [Date.now()] })"),
    },
    {
      name: 'a function that is only given to a step may',
      code: flow("const stamp = () => Date.now()\nreturn task.run('stamp', stamp)"),
    },
    {
      name: 'a function that is only called in steps may',
      code: flow("return task.run('stamp', () => stamp())", 'const stamp = () => Date.now()'),
    },
    {
      name: 'a step by a destructured method may',
      code: `import { workflow } from 'triarch'
workflow('sample', { run: (input, { run }) => run('stamp', () => Date.now()) })`,
    },
    {
      name: 'a step that a function makes may',
      code: flow("return task.run('stamp', stamp(input))", 'const stamp = (what) => async () => [what, Date.now()]'),
    },
    {
      name: 'a step in a function that gets the task only from a later call may',
      code: flow(
        'await both(null)\nawait both(task)',
        "function both(context) { return context?.run('stamp', () => Date.now()) }",
      ),
    },
    {
      name: 'a step of a task that nobody can see may',
      code: flow("const all = new Steps(task)\nreturn all.task.run('stamp', () => Date.now())"),
    },
    {
      name: 'a step of a task in an object may',
      code: flow(
        'return stamp({ task, input })',
        'const stamp = (given) => given.task.run(input, { undo: () => Date.now() })',
      ),
    },
    {
      name: 'the workflow of another library may',
      code: "import { workflow } from 'elsewhere'\nworkflow({ run() { return Date.now() } })",
    },
    { name: 'a plan may, for it runs once', code: planned('plan.step(report, { at: Date.now() })') },
    { name: 'a variable of that name is no clock', code: flow('const Date = input\nreturn Date.now()') },
    { name: 'types are no code', code: flow('const at: Date = task.now()\nreturn at as Date') },
  ],
  invalid: [
    {
      name: 'run as an arrow function',
      code: "import { workflow as define } from 'triarch'\ndefine('sample', { run: () => Date.now() })",
      says: ['task.now()'],
    },
    {
      name: 'run by its name',
      code: "import { workflow } from 'triarch'\nconst run = () => Date.now()\nworkflow('sample', { run })",
      says: ['task.now()'],
    },
    {
      name: 'a definition by its name',
      code: "import { workflow } from 'triarch'\nconst sample = { run: () => Date.now() }\nworkflow('sample', sample)",
      says: ['task.now()'],
    },
    {
      name: 'the module as a whole',
      code: "import * as triarch from 'triarch'\ntriarch.workflow('sample', { run: () => Date.now() })",
      says: ['task.now()'],
    },
    {
      name: 'workflow by way of a module of the project',
      code: "import { workflow } from '#engine'\nworkflow('sample', { run: () => Date.now() })",
      says: ['task.now()'],
    },
    {
      name: 'a definition with a type',
      code: "import { workflow } from 'triarch'\nworkflow('sample', { run: () => Date.now() } satisfies object)",
      says: ['task.now()'],
    },
    { name: 'a callback', code: flow('return input.map(() => performance.now())'), says: ['task.now()'] },
    {
      name: 'the input of a step',
      code: flow('return task.run(charge, { at: performance.now() })'),
      says: ['task.now()'],
    },
    {
      name: 'a callback in the input of a step',
      code: flow('return task.run(charge, input.map(() => performance.now()))'),
      says: ['task.now()'],
    },
    {
      name: 'a function that it calls',
      code: flow('return stamp()', 'const stamp = () => performance.now()'),
      says: ['task.now()'],
    },
    {
      name: 'a function that such a function calls',
      code: flow('return outer()', 'const outer = () => inner()\nfunction inner() { return performance.now() }'),
      says: ['task.now()'],
    },
    {
      name: 'a function that it gives to another',
      code: flow('return input.map(stamp)', 'const stamp = () => performance.now()'),
      says: ['task.now()'],
    },
    {
      name: 'a function that is called for the input of a step',
      code: flow('return task.run(charge, stamp())', 'const stamp = () => performance.now()'),
      says: ['task.now()'],
    },
    {
      name: 'a function with a task among its parameters',
      code: "import type { TaskContext } from 'triarch'\nexport const charge = (order: Order, t: TaskContext<{}>) => performance.now()",
      says: ['t.now()'],
    },
    {
      name: 'a method with a task among its parameters',
      code: "import type * as triarch from 'triarch'\nexport class Steps { charge(task: triarch.TaskContext) { return performance.now() } }",
      says: ['task.now()'],
    },
    {
      name: 'the name that the task has there',
      code: flow('return charge({ context: task })', 'function charge({ context: c }) { return Date.now() }'),
      says: ['c.now()'],
      fixed: flow('return charge({ context: task })', 'function charge({ context: c }) { return c.now().getTime() }'),
    },
    {
      name: 'a function with a task in an object among its parameters',
      code: "import type { TaskContext } from 'triarch'\nexport const charge = ({ task: t }: { order: Order; task: TaskContext }) => performance.now()",
      says: ['t.now()'],
    },
    { name: 'no name where it is hidden', code: flow('return input.map((task) => Date.now())'), says: ['task.now()'] },
  ],
}
