import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { keepCompiled } from './compiled.ts'
import { processes } from './processes.ts'

keepCompiled()

/** What takes minutes and all cores by itself: npm run proofs. One after the other, for each is judged as if it were alone. */
export default defineConfig({
  test: {
    name: 'proofs',
    root: join(import.meta.dirname, '..'),
    include: ['{tools/*,scripts,packages/console}/test/*.proof.ts'],
    ...processes,
    fileParallelism: false,
    // For what hangs only.
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
  },
})
