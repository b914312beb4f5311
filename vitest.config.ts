import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config'
import { keepCompiled } from './scripts/compiled.ts'
import { processes } from './scripts/processes.ts'
import { LongestFirst } from './scripts/sequencer.ts'
import { mutantPlugin, mutantRunner } from './tools/mutate/plugin.ts'

keepCompiled()

export default defineConfig(suites('*.test.ts', ['*.long.test.ts']))

/** Both projects with the test files of these names: `npm test` runs all but the long ones, `npm run test:long` those. */
export function suites(name: string, without: readonly string[]): ViteUserConfig {
  return {
    plugins: [mutantPlugin()],
    test: {
      ...mutantRunner(),
      root: import.meta.dirname,
      environment: 'node',
      exclude: [...configDefaults.exclude, ...without.map((it) => `**/${it}`)],
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
              `packages/triarch/test/**/${name}`,
              `packages/eslint-plugin/test/**/${name}`,
              `packages/server/test/**/${name}`,
              `packages/cli/test/**/${name}`,
              `packages/client/test/**/${name}`,
              `packages/create-triarch/test/**/${name}`,
              `packages/opentelemetry/test/**/${name}`,
              `packages/console/test/**/${name}`,
              `examples/*/test/**/${name}`,
              `tools/!(packaging)/test/**/${name}`, // packages have a run of their own
              `scripts/test/**/${name}`,
              `ops/test/**/${name}`,
            ],
          },
        },
        {
          // A real server is started for these, and only when one of them runs.
          extends: true,
          test: {
            name: 'postgres',
            include: [`packages/postgres/test/**/${name}`],
            globalSetup: 'packages/postgres/test/setup.ts',
          },
        },
      ],
    },
  }
}
