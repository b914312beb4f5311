#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'
import { exitCodes } from './exit.ts'
import { reportLoads } from './loaded.ts'
import { run } from './run.ts'
import { processTerminal } from './terminal.ts'

// A reader that has seen enough (`triarch … | head`) closes the pipe. That ends this command, and is no error.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    process.exitCode = exitCodes.failed
    if (stream === process.stdout) process.stderr.write(`triarch: OUTPUT_FAILED: ${error.message}\n`)
    process.exit()
  })

reportLoads()
// This process is ours: what its tasks leave is collected sooner (docs/internals/performance.md).
setFlagsFromString('--no-allocation-site-pretenuring')
process.exitCode = await run(process.argv.slice(2), processTerminal())
