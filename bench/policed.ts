import { type Agent, type AgentOptions, agent } from 'triarch'
import type { Count } from './subject.ts'

/** Policies that have nothing to do. */
export const policed: AgentOptions = { circuitBreaker: {}, ageing: '10m' }

/** The agent of the other measures, with them. */
export const policedService: Agent = agent('service', { concurrency: 100_000, ...policed })
policedService.action('add', { run: async ({ n }: Count) => ({ n: n + 1 }) })
