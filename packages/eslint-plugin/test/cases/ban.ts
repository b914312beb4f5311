import { type Cases, flow } from './case.ts'

const steps = (head: string, body: string): string => flow(body, head)

/** The rules that are tables. */
export const bans: readonly Cases[] = [
  {
    rule: 'no-clock',
    valid: [
      { name: 'the time of the task is the same on replay', code: flow('return task.now()') },
      { name: 'an instant that is given is no clock', code: flow('return new Date(input.at)') },
      { name: 'a date may be asked for its class', code: flow('return input instanceof Date') },
      { name: 'dayjs of an instant is no clock', code: steps("import dayjs from 'dayjs'", 'return dayjs(task.now())') },
    ],
    invalid: [
      {
        name: 'Date.now()',
        code: flow('return Date.now() + 1'),
        says: ['`Date.now` is another instant'],
        fixed: flow('return task.now().getTime() + 1'),
      },
      {
        name: 'new Date()',
        code: flow('return new Date().toISOString()'),
        says: ['`Date`'],
        fixed: flow('return task.now().toISOString()'),
      },
      { name: 'new Date', code: flow('return new Date'), says: ['`Date`'], fixed: flow('return task.now()') },
      { name: 'Date()', code: flow('return Date()'), says: ['`Date`'], fixed: flow('return task.now().toString()') },
      { name: 'a clock as a value', code: flow('const clock = Date.now\nreturn clock()'), says: ['`Date.now`'] },
      {
        name: 'a global of globalThis',
        code: flow("return globalThis['performance'].now()"),
        says: ["`globalThis['performance'].now`"],
      },
      {
        name: 'a clock of a module',
        code: steps("import { performance as p } from 'node:perf_hooks'", 'return p.now()'),
        says: ['`p.now`'],
      },
      {
        name: 'process.hrtime',
        code: steps("import process from 'node:process'", 'return process.hrtime.bigint()'),
        says: ['`process.hrtime`'],
      },
      { name: 'Temporal', code: flow('return Temporal.Now.instant()'), says: ['`Temporal.Now`'] },
      { name: 'dayjs()', code: steps("import dayjs from 'dayjs'", 'return dayjs()'), says: ['dayjs(task.now())'] },
    ],
  },
  {
    rule: 'no-random',
    valid: [
      { name: 'chance of the task is the same on replay', code: flow('return [task.random(), task.uuid()]') },
      {
        name: 'a hash is no chance',
        code: steps(
          "import { createHash } from 'node:crypto'",
          "return createHash('sha256').update(input).digest('hex')",
        ),
      },
      {
        name: 'a UUID made of a name is no chance',
        code: steps("import { v5 } from 'uuid'", 'return v5(input.name, input.space)'),
      },
    ],
    invalid: [
      {
        name: 'Math.random()',
        code: flow('return Math.random() < 0.5'),
        says: ['task.random()'],
        fixed: flow('return task.random() < 0.5'),
      },
      {
        name: 'crypto.randomUUID()',
        code: flow('return crypto.randomUUID()'),
        says: ['task.uuid()'],
        suggests: [[flow('return task.uuid()')]],
      },
      {
        name: 'crypto.getRandomValues()',
        code: flow('return crypto.getRandomValues(new Uint8Array(4))'),
        says: ['task.random()'],
      },
      {
        name: 'chance of a module',
        code: steps("import { randomBytes, randomUUID as id } from 'crypto'", 'return randomBytes(4) + id()'),
        says: ['`randomBytes`', '`id`'],
      },
      {
        name: 'uuid',
        code: steps("import { v4 as uuid } from 'uuid'", 'return uuid()'),
        says: ['task.uuid()'],
        suggests: [[flow('return task.uuid()', "import { v4 as uuid } from 'uuid'")]],
      },
      { name: 'nanoid', code: steps("import { nanoid } from 'nanoid'", 'return nanoid()'), says: ['task.uuid()'] },
    ],
  },
  {
    rule: 'no-timers',
    valid: [
      { name: 'sleeping by the task is kept in its history', code: flow("await task.sleep('2d')") },
      {
        name: 'a step may have timers',
        code: flow("await task.run('wait', () => new Promise((r) => setTimeout(r, 5)))"),
      },
    ],
    invalid: [
      {
        name: 'a wait by hand',
        code: flow('await new Promise((resolve) => setTimeout(resolve, 5 * 60_000))'),
        says: ['task.sleep'],
        suggests: [[flow('await task.sleep(5 * 60_000)')]],
      },
      {
        name: 'a wait by a function',
        code: flow('await new Promise(function (resolve) { setTimeout(resolve, 5) })'),
        says: ['task.sleep'],
        suggests: [[flow('await task.sleep(5)')]],
      },
      {
        name: 'a timer that does something',
        code: flow('setTimeout(() => task.progress(1), 5)'),
        says: ['`setTimeout`'],
      },
      {
        name: 'a wait by a module',
        code: steps("import { setTimeout as delay } from 'node:timers/promises'", 'await delay(500)'),
        says: ['`delay`'],
        suggests: [[flow('await task.sleep(500)', "import { setTimeout as delay } from 'node:timers/promises'")]],
      },
      {
        name: 'a wait with a value',
        code: steps("import { setTimeout as delay } from 'node:timers/promises'", 'return await delay(500, 1)'),
        says: ['`delay`'],
      },
      {
        name: 'setInterval and setImmediate',
        code: flow('setInterval(f, 5)\nsetImmediate(f)'),
        says: ['setInterval', 'setImmediate'],
      },
      {
        name: 'AbortSignal.timeout()',
        code: flow("return task.lock('host', { signal: AbortSignal.timeout(5) })"),
        says: ['`timeout` among the options'],
      },
    ],
  },
  {
    rule: 'no-io',
    valid: [
      { name: 'an action may reach out', code: "bank.action('charge', { run: () => fetch('https://bank.example') })" },
      {
        name: 'paths are no files',
        code: steps("import { join } from 'node:path'", 'return join(input.folder, input.name)'),
      },
      { name: 'a module is fine that is not listed', code: steps("import { db } from './db.ts'", 'return db') },
    ],
    invalid: [
      { name: 'fetch', code: flow("return await fetch('https://bank.example')"), says: ['task.run(action, input)'] },
      { name: 'WebSocket', code: flow("return new WebSocket('wss://bank.example')"), says: ['`WebSocket`'] },
      {
        name: 'files',
        code: steps("import { readFileSync } from 'node:fs'", "return readFileSync('a')"),
        says: ['`readFileSync`'],
      },
      {
        name: 'files without node:',
        code: steps("import fs from 'fs'", "return fs.promises.readFile('a')"),
        says: ['`fs.promises`'],
      },
      {
        name: 'processes',
        code: steps("import * as child from 'node:child_process'", "child.execSync('ls')"),
        says: ['`child.execSync`'],
      },
      {
        name: 'modules that are listed',
        code: steps("import { db } from './db.ts'", 'return db.read()'),
        options: [{ modules: ['./db.ts'] }],
        says: ['`db`'],
      },
      {
        name: 'a helper that is called',
        code: steps("import { readFileSync } from 'node:fs'\nconst read = () => readFileSync('a')", 'return read()'),
        says: ['`readFileSync`'],
      },
    ],
  },
  {
    rule: 'no-process-state',
    valid: [
      { name: 'a step may read the environment', code: flow("return task.run('region', () => process.env.REGION)") },
      { name: 'a warning is no reading', code: flow("process.emitWarning('old')") },
    ],
    invalid: [
      { name: 'process.env', code: flow('return process.env.REGION'), says: ['`process.env` may be another'] },
      {
        name: 'a part of process',
        code: steps("import { env, pid } from 'node:process'", 'return [env.REGION, pid]'),
        says: ['`env`', '`pid`'],
      },
      {
        name: 'the host',
        code: steps("import { hostname } from 'node:os'", 'return hostname()'),
        says: ['`hostname`'],
      },
    ],
  },
]
