import type { Rule } from 'eslint'
import { vocabulary } from '../vocabulary.ts'
import { type Ban, banRule } from './ban.ts'

const random = `task.${vocabulary.random}()`
const uuid = `task.${vocabulary.uuid}()`

// A UUID of another version: whoever checks for version 4 would refuse it.
const newUuid: Pick<Ban, 'instead' | 'replace'> = {
  instead: uuid,
  replace: (task, call) => call && `${task}.${vocabulary.uuid}()`,
}
const bytes = [
  'getRandomValues',
  'randomBytes',
  'randomInt',
  'randomFill',
  'randomFillSync',
  'generateKey',
  'generateKeyPair',
]

export const noRandom: Rule.RuleModule = banRule({
  description: 'Disallow randomness in workflow code.',
  message: '`{{what}}` gives something else when the task is replayed: use `{{instead}}`, which gives the same.',
  bans: [
    {
      name: 'Math.random',
      instead: random,
      replace: (task, call) => call && `${task}.${vocabulary.random}()`,
      safe: true,
    },
    { name: 'crypto.randomUUID', ...newUuid },
    { name: 'crypto.getRandomValues', instead: random },
    { module: 'crypto', name: 'randomUUID', ...newUuid },
    { module: 'crypto', name: 'webcrypto.randomUUID', ...newUuid },
    { module: 'crypto', name: 'webcrypto.getRandomValues', instead: random },
    ...bytes.map((name): Ban => ({ module: 'crypto', name, instead: random })),
    ...['v1', 'v4', 'v6', 'v7'].map((name): Ban => ({ module: 'uuid', name, ...newUuid })),
    { module: 'nanoid', instead: uuid },
    { module: 'ulid', instead: uuid },
    { module: '@paralleldrive/cuid2', instead: uuid },
  ],
})
