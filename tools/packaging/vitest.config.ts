import { defineConfig } from 'vitest/config'

/** What is true of the packages as users get them: npm run packages. They are packed once, and installed from that. */
export default defineConfig({
  test: {
    name: 'packages',
    root: import.meta.dirname,
    include: ['test/*.test.ts'],
    globalSetup: 'test/setup.ts',
    pool: 'forks',
    maxWorkers: 2,
    // For what hangs only: compilers and bundlers take their time on a busy machine.
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
})
