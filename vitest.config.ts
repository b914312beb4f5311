import { defineConfig } from 'vitest/config'
import { mutantPlugin, mutantRunner } from './mutate/plugin.ts'
import { keepCompiled } from './scripts/compiled.ts'
import { processes } from './scripts/processes.ts'
import { LongestFirst } from './scripts/sequencer.ts'

keepCompiled()

export default defineConfig({
  plugins: [mutantPlugin()],
  test: {
    ...mutantRunner(),
    environment: 'node',
    ...processes,
    sequence: { sequencer: LongestFirst },
    maxWorkers: 4, // twice as many as the smallest machine has cores: a third of the time, a file waits for a browser, a database or the death of a process
    // For what hangs only: nothing that is slow on a busy machine fails by these.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'engine',
          include: [
            'packages/triarch/test/**/*.test.ts',
            'packages/eslint-plugin/test/**/*.test.ts',
            'packages/server/test/**/*.test.ts',
            'packages/cli/test/**/*.test.ts',
            'packages/client/test/**/*.test.ts',
            'packages/create-triarch/test/**/*.test.ts',
            'packages/opentelemetry/test/**/*.test.ts',
            'packages/console/test/**/*.test.ts',
            'examples/*/test/**/*.test.ts',
            'bench/test/**/*.test.ts',
            'chaos/test/**/*.test.ts',
            'simulation/test/**/*.test.ts',
            'scripts/test/**/*.test.ts',
            'mutate/test/**/*.test.ts',
            'recordings/test/**/*.test.ts',
            'site/test/**/*.test.ts',
            'api/test/**/*.test.ts',
            'ops/test/**/*.test.ts',
          ],
        },
      },
      {
        // A real server is started for these, and only when one of them runs.
        extends: true,
        test: {
          name: 'postgres',
          include: ['packages/postgres/test/**/*.test.ts'],
          globalSetup: 'packages/postgres/test/setup.ts',
        },
      },
    ],
  },
})
