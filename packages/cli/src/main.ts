#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'
import { run } from './run.ts'
import { processTerminal } from './terminal.ts'

// This process is ours: what its tasks leave is collected sooner (docs/decisions/0127).
setFlagsFromString('--no-allocation-site-pretenuring')
process.exitCode = await run(process.argv.slice(2), processTerminal())
