import type { Rule } from 'eslint'
import { vocabulary } from '../vocabulary.ts'
import { banRule } from './ban.ts'

const now = `task.${vocabulary.now}()`

export const noClock: Rule.RuleModule = banRule({
  description: 'Disallow clocks in workflow code.',
  message: '`{{what}}` is another instant when the task is replayed: use `{{instead}}`, which is the same.',
  bans: [
    {
      name: 'Date.now',
      instead: now,
      replace: (task, call) => call && `${task}.${vocabulary.now}().getTime()`,
      safe: true,
    },
    {
      name: 'Date',
      bare: true,
      instead: now,
      // Called without `new` it gives a string.
      replace: (task, call) => `${task}.${vocabulary.now}()${call ? '.toString()' : ''}`,
      safe: true,
    },
    { name: 'performance.now', instead: now },
    { name: 'performance.timeOrigin', instead: now },
    { name: 'process.hrtime', instead: now },
    { name: 'process.uptime', instead: now },
    { name: 'Temporal.Now', instead: now },
    { module: 'dayjs', bare: true, instead: `dayjs(${now})` },
    { module: 'moment', bare: true, instead: `moment(${now})` },
    { module: 'luxon', name: 'DateTime.now', instead: `DateTime.fromJSDate(${now})` },
  ],
})
