/** ESLint rules for the code of Triarch's workflows and plans. */
import { createRequire } from 'node:module'
import type { ESLint, Linter, Rule } from 'eslint'
import { noAsyncBlocks } from './rules/no-async-blocks.ts'
import { noClock } from './rules/no-clock.ts'
import { noFloatingCalls } from './rules/no-floating-calls.ts'
import { noForeignAwait } from './rules/no-foreign-await.ts'
import { noIo } from './rules/no-io.ts'
import { noModuleState } from './rules/no-module-state.ts'
import { noProcessState } from './rules/no-process-state.ts'
import { noRandom } from './rules/no-random.ts'
import { noReferenceValues } from './rules/no-reference-values.ts'
import { noTimers } from './rules/no-timers.ts'

const { name, version } = createRequire(import.meta.url)('eslint-plugin-triarch/package.json') as Record<string, string>

const modules: Readonly<Record<string, Rule.RuleModule>> = {
  'no-async-blocks': noAsyncBlocks,
  'no-clock': noClock,
  'no-floating-calls': noFloatingCalls,
  'no-foreign-await': noForeignAwait,
  'no-io': noIo,
  'no-module-state': noModuleState,
  'no-process-state': noProcessState,
  'no-random': noRandom,
  'no-reference-values': noReferenceValues,
  'no-timers': noTimers,
}

/** Editors lead to the rule's section, in the version that complains. */
function documented(rule: string, { meta, create }: Rule.RuleModule): Rule.RuleModule {
  const url = `https://github.com/triarch-dev/triarch/blob/v${version}/docs/eslint.md#${rule}`
  return { meta: { ...meta, docs: { ...meta?.docs, url } }, create }
}

/**
 * The rules, by the names that stand behind `triarch/`.
 * @example const names = Object.keys(rules)
 */
export const rules: Readonly<Record<string, Rule.RuleModule>> = Object.fromEntries(
  Object.entries(modules).map(([rule, module]) => [rule, documented(rule, module)]),
)

/**
 * What the plugin is to ESLint.
 * @example
 * import triarch from 'eslint-plugin-triarch'
 *
 * const config = [{ ...triarch.configs.recommended, files: ['workflows/**'] }]
 */
export interface Plugin extends ESLint.Plugin {
  /** Ready to be put into a flat config. */
  configs: {
    /** All rules as errors, under the prefix `triarch`: one entry of a flat config. */
    recommended: Linter.Config
  }
}

const recommended: Linter.Config = {
  name: 'triarch/recommended',
  rules: Object.fromEntries(Object.keys(rules).map((rule) => [`triarch/${rule}`, 'error'])),
}

/**
 * The plugin: its rules, and `configs.recommended`.
 * @example
 * import triarch from 'eslint-plugin-triarch'
 *
 * const config = [triarch.configs.recommended]
 */
const plugin: Plugin = { meta: { name, version, namespace: 'triarch' }, rules: { ...rules }, configs: { recommended } }
recommended.plugins = { triarch: plugin }

// ESLint and oxlint take a plugin by its default export.
export default plugin
