import { defineConfig } from 'vitest/config'
import { suites } from '../vitest.config.ts'

/** Tests that kill processes again and again, or repeat a suite in another configuration: npm run test:long. */
export default defineConfig(suites('*.long.test.ts', []))
