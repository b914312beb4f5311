import type { Rule } from 'eslint'
import { type Ban, banRule } from './ban.ts'

const instead = "task.run(action, input)` or `task.run('name', () => …)"
const globals = ['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource', 'BroadcastChannel', 'Worker', 'Bun', 'Deno']
const builtin = [
  'child_process',
  'cluster',
  'dgram',
  'dns',
  'dns/promises',
  'fs',
  'fs/promises',
  'http',
  'http2',
  'https',
  'net',
  'readline',
  'readline/promises',
  'sqlite',
  'tls',
  'worker_threads',
]

const ofModule = (module: string): Ban => ({ module: module.replace(/^node:/, ''), instead })

export const effects: readonly Ban[] = [...globals.map((name): Ban => ({ name, instead })), ...builtin.map(ofModule)]

export const noIo: Rule.RuleModule = banRule({
  description: 'Disallow network, files and processes in workflow code.',
  message:
    '`{{what}}` would run again whenever the task is replayed, unseen by its history: put it into a step, `{{instead}}`.',
  bans: effects,
  more: (modules) => modules.map(ofModule),
})
