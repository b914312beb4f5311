import { type Cases, flow } from './case.ts'

export const floatingCalls: Cases = {
  rule: 'no-floating-calls',
  valid: [
    { name: 'what is awaited', code: flow("await task.run(charge, input)\nawait task.sleep('1s')") },
    { name: 'what is returned', code: flow('return task.run(charge, input)') },
    {
      name: 'what an arrow function gives',
      code: flow('return Promise.all(input.map((one) => task.run(charge, one)))'),
    },
    {
      name: 'what is awaited later',
      code: flow('const paid = task.run(charge, input)\nawait task.run(ship, input)\nawait paid'),
    },
    { name: 'the parts of a race', code: flow("return Promise.race([task.waitForSignal('paid'), task.sleep('1d')])") },
    {
      name: 'what is collected',
      code: flow('const all = []\nfor (const one of input) all.push(task.run(charge, one))\nreturn Promise.all(all)'),
    },
    { name: 'what is let go by catch', code: flow('task.run(charge, input).catch(() => {})') },
    { name: 'what is let go by then', code: flow('task.run(charge, input).then(seen, failed)') },
    { name: 'what gives no promise', code: flow('task.progress(1)\ntask.undo(() => take())') },
    { name: 'what is not the task', code: flow('other.run(charge, input)') },
    { name: 'a loop', code: flow('for (const one of input) await task.run(charge, one)') },
    {
      name: 'helpers that are awaited',
      code: flow('await pay(task)', 'const pay = async (task) => { await task.run(charge) }'),
    },
    {
      name: 'helpers that do not wait',
      code: flow('prepare(task)', 'function prepare(task) { task.undo(() => take()) }'),
    },
    { name: 'a function that calls itself', code: flow('again()', 'const again = () => again()') },
    { name: 'a step is no workflow code', code: flow("await task.run('all', () => { task.run(charge, input) })") },
  ],
  invalid: [
    {
      name: 'a step',
      code: flow('task.run(charge, input)'),
      says: ['`task.run` is not awaited'],
      suggests: [[flow('await task.run(charge, input)'), flow('task.run(charge, input).catch(() => {})')]],
    },
    {
      name: 'void',
      code: flow('void task.run(charge, input)'),
      says: ['`void` does not let a call of a task go'],
      suggests: [[flow('await task.run(charge, input)'), flow('task.run(charge, input).catch(() => {})')]],
    },
    {
      name: 'a code path',
      code: flow('input.paid || task.run(charge, input)'),
      says: ['`task.run`'],
    },
    {
      name: 'then without a handler of failures',
      code: flow('task.run(charge, input).then(seen).finally(done)'),
      says: ['`task.run`'],
    },
    {
      name: 'Promise.all',
      code: flow('Promise.all([task.run(charge, input), task.run(ship, input)])'),
      says: ['`Promise.all` is not awaited'],
      suggests: [[flow('await Promise.all([task.run(charge, input), task.run(ship, input)])')]],
    },
    {
      name: 'Promise.all of a list that is made by map',
      code: flow('Promise.all(input.map((one) => task.run(charge, one)))'),
      says: ['`Promise.all`'],
      suggests: [[flow('await Promise.all(input.map((one) => task.run(charge, one)))')]],
    },
    {
      name: 'forEach with an async function',
      code: flow('input.forEach(async (one) => { await task.run(charge, one) })'),
      says: ['drops the promises'],
    },
    {
      name: 'forEach with an arrow function',
      code: flow('input.forEach((one) => task.run(charge, one))'),
      says: ['drops the promises'],
    },
    {
      name: 'map whose list nobody takes',
      code: flow('input.map((one) => task.run(charge, one))'),
      says: ['drops the promises'],
    },
    {
      name: 'a variable that nobody reads',
      code: flow('const paid = task.run(charge, input)'),
      says: ['`paid` is never awaited'],
    },
    {
      name: 'an async helper',
      code: flow('pay(task)', 'async function pay(task) { await task.run(charge) }'),
      says: ['`pay` is not awaited'],
      suggests: [[flow('await pay(task)', 'async function pay(task) { await task.run(charge) }')]],
    },
    {
      name: 'a helper that gives what it asks for',
      code: flow('pay(task)', 'const pay = (task) => task.run(charge)'),
      says: ['`pay`'],
      suggests: [[flow('await pay(task)', 'const pay = (task) => task.run(charge)')]],
    },
    {
      name: 'an async function that is called at once',
      code: flow(';(async () => { await task.run(charge) })()'),
      says: ['`async function`'],
      suggests: [[flow(';await (async () => { await task.run(charge) })()')]],
    },
    {
      name: 'every method that gives a promise',
      code: flow("task.sleep('1s')\ntask.lock('host')\ntask.start(child, 1)\ntask.continueAsNew(1)"),
      says: ['task.sleep', 'task.lock', 'task.start', 'task.continueAsNew'],
    },
    { name: 'a destructured method', code: flow('const { run } = task\nrun(charge, input)'), says: ['`run`'] },
    {
      name: 'a helper in the same file',
      code: flow('await pay(task)', 'async function pay(context) { context.run(charge) }'),
      says: ['`context.run`'],
    },
    {
      name: 'a task in an object',
      code: flow(
        'const all = { order: input, task }\nawait pay(all)',
        'async function pay(given) {\ngiven.task.run(charge)\nconst { task: t } = given\nt.run(ship)\n}',
      ),
      says: ['`given.task.run`', '`t.run`'],
    },
    {
      name: 'a condition',
      code: flow('if (task.run(check, input)) return 1'),
      says: ['A promise is always true'],
      suggests: [[flow('if (await task.run(check, input)) return 1')]],
    },
    {
      name: 'where nothing can be awaited',
      code: "import { workflow } from 'triarch'\nworkflow('sample', { run(input, task) { task.sleep(1) } })",
      says: ['task.sleep'],
      suggests: [
        [
          "import { workflow } from 'triarch'\nworkflow('sample', { run(input, task) { task.sleep(1).catch(() => {}) } })",
        ],
      ],
    },
  ],
}

const imported = "import { sendMail, db, withRetry, Steps } from './things.ts'"

export const foreignAwait: Cases = {
  rule: 'no-foreign-await',
  valid: [
    {
      name: 'calls of the task',
      code: flow("await task.run(charge, input)\nawait Promise.all([task.sleep('1s'), task.waitForSignal('paid')])"),
    },
    { name: 'promises of the language', code: flow('await Promise.resolve(1)\nawait null') },
    { name: 'imports that are given the task', code: flow('await sendMail(task, input)', imported) },
    {
      name: 'imports that are given a function that uses it',
      code: flow('await withRetry(() => task.run(charge, input))', imported),
    },
    {
      name: 'imports that are given what was made with it',
      code: flow('const steps = new Steps(task)\nawait steps.charge()\nawait sendMail(steps)', imported),
    },
    {
      name: 'imports that are given an object with the task',
      code: flow('await all({ task })', `${imported}\nconst all = async (given) => { await sendMail(given) }`),
    },
    {
      name: 'functions of the file, whose own code is looked at',
      code: flow('await later(input)', 'async function later(one) { return one }'),
    },
    { name: 'what nobody can know', code: flow('const { done } = input\nawait done()\nawait input.ready') },
    { name: 'chains of the task', code: flow('await task.run(charge, input).then((one) => one.id).catch(() => null)') },
    { name: 'steps', code: flow("await task.run('mail', async () => { await sendMail(input) })", imported) },
    {
      name: 'promises made by hand of what the task gives',
      code: flow('await new Promise((resolve) => resolve(task.sleep(1)))'),
    },
    {
      name: 'what no-io and no-timers tell',
      code: flow("await fetch('a')\nawait new Promise((resolve) => setTimeout(resolve, 1))"),
    },
    { name: 'promises that were begun with the task', code: flow('const paid = task.run(charge, input)\nawait paid') },
    {
      name: 'plans, which are planned once',
      code: "import { workflow } from 'triarch'\nworkflow('sample', { async plan(input, plan) { plan.step(a, await load(input)) } })",
    },
  ],
  invalid: [
    {
      name: 'an import',
      code: flow('await sendMail(input)', imported),
      says: ['`sendMail` is no call of the task'],
      suggests: [[flow("await task.run('sendMail', () => sendMail(input))", imported)]],
    },
    {
      name: 'a method of an import',
      code: flow('return await db.users.find(input.id)', imported),
      says: ['`db.users.find`'],
      suggests: [[flow("return await task.run('find', () => db.users.find(input.id))", imported)]],
    },
    {
      name: 'a variable of the module',
      code: flow('await client.ready', 'const client = connect()'),
      says: ['`client.ready`'],
    },
    {
      name: 'a chain',
      code: flow('await sendMail(input).catch(() => null)', imported),
      says: ['`sendMail`'],
      suggests: [[flow("await task.run('sendMail', () => sendMail(input)).catch(() => null)", imported)]],
    },
    {
      name: 'one of many',
      code: flow('await Promise.all([task.run(charge, input), sendMail(input)])', imported),
      says: ['`sendMail`'],
      suggests: [
        [flow("await Promise.all([task.run(charge, input), task.run('sendMail', () => sendMail(input))])", imported)],
      ],
    },
    {
      name: 'each of many',
      code: flow('await Promise.all(input.map((one) => sendMail(one)))', imported),
      says: ['`sendMail`'],
      suggests: [[flow("await Promise.all(input.map((one) => task.run('sendMail', () => sendMail(one))))", imported)]],
    },
    {
      name: 'what was begun before',
      code: flow('const sent = sendMail(input)\nawait sent', imported),
      says: ['`sendMail`'],
      suggests: [[flow("const sent = task.run('sendMail', () => sendMail(input))\nawait sent", imported)]],
    },
    {
      name: 'a stream',
      code: flow('for await (const row of db.rows()) task.progress(row)', imported),
      says: ['`db.rows`'],
      suggests: [[flow("for await (const row of task.run('rows', () => db.rows())) task.progress(row)", imported)]],
    },
    { name: 'a module', code: flow("await import('./other.ts')"), says: ["`import('./other.ts')`"] },
    { name: 'a promise that nobody keeps', code: flow('await new Promise(() => {})'), says: ['new Promise'] },
    {
      name: 'a helper in the same file',
      code: flow('await mail(input)', `${imported}\nconst mail = async (one) => { await sendMail(one) }`),
      says: ['`sendMail`'],
    },
    {
      name: 'data of the task does not make it one',
      code: flow('const paid = await task.run(charge, input)\nawait sendMail(paid)', imported),
      says: ['`sendMail`'],
      suggests: [
        [
          flow(
            "const paid = await task.run(charge, input)\nawait task.run('sendMail', () => sendMail(paid))",
            imported,
          ),
        ],
      ],
    },
  ],
}
