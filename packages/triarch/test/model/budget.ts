import type { Parameters } from 'fast-check'

/**
 * How much a model is run: the same few seeded runs in every `npm test`, and as many as wanted by hand:
 * `TRIARCH_MODEL_RUNS=100000 TRIARCH_MODEL_SEED=7`, and `TRIARCH_MODEL_PATH` (printed on failure) to repeat one.
 */
export function budget(runs: number): { parameters: Parameters<unknown>; timeout: number } {
  const { TRIARCH_MODEL_RUNS: wanted, TRIARCH_MODEL_SEED: seed = '1', TRIARCH_MODEL_PATH: path } = process.env
  const parameters = { numRuns: wanted === undefined ? runs : Number(wanted), seed: Number(seed) }
  return { parameters: { ...parameters, ...(path !== undefined && { path }) }, timeout: 24 * 60 * 60 * 1_000 }
}
