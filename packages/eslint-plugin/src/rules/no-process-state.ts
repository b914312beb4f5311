import type { Rule } from 'eslint'
import { type Ban, banRule } from './ban.ts'

const instead = "task.run('name', () => …)"
const names = [
  'arch',
  'argv',
  'argv0',
  'availableMemory',
  'config',
  'constrainedMemory',
  'cpuUsage',
  'cwd',
  'env',
  'execArgv',
  'execPath',
  'features',
  'memoryUsage',
  'pid',
  'platform',
  'ppid',
  'release',
  'report',
  'resourceUsage',
  'title',
  'version',
  'versions',
]

export const noProcessState: Rule.RuleModule = banRule({
  description: 'Disallow what differs between processes in workflow code.',
  message:
    '`{{what}}` may be another when the task goes on in another process: give it in the input, or read it once in a step, `{{instead}}`.',
  bans: [
    ...names.map((name): Ban => ({ name: `process.${name}`, instead })),
    { name: 'navigator', instead },
    { module: 'os', instead },
    { module: 'v8', instead },
  ],
})
