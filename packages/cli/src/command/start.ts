import type { Command } from 'commander'
import { type Role, stopOnSignals } from 'triarch'
import { appOf } from '../app.ts'
import { duration, whole } from '../argument.ts'
import type { Means } from '../command.ts'
import { exitCodes, Failure, usage } from '../exit.ts'
import { type Shared, storePlaceOf } from '../place.ts'
import { open, storeAt } from '../session.ts'
import { cell, instant } from '../table.ts'

const roles: readonly Role[] = ['scheduler', 'agent', 'supervisor']

/** A node without a program of its own. */
export function addStart(program: Command, means: Means): void {
  program
    .command('start')
    .description(
      'runs a node with what a module exports, until it is told to stop (SIGTERM, SIGINT); makes the store when there is none',
    )
    .argument('<module>', 'the module that exports workflows and agents')
    .option('--roles <roles>', `of ${roles.join(', ')}, with commas between; all`)
    .option(
      '--port <n>',
      'serve tasks over HTTP on loopback, by @triarch/server; 0: any port',
      whole('--port', 0, 65_535),
    )
    .option('--grace <duration>', 'how long running steps may go on when it stops', duration('--grace'))
    .action(async (path: string, _, command: Command) => {
      const options = command.optsWithGlobals<Shared & { roles?: string; port?: number; grace?: number }>()
      const wanted = options.roles?.split(',').map((role) => role.trim())
      if (wanted?.some((role) => !roles.some((known) => known === role)))
        throw usage(`--roles: give some of ${roles.join(', ')}`)
      const app = await appOf(path)
      const { terminal } = means
      const said = (at: number, text: string) => terminal.out(`${instant(new Date(at))}  ${cell(text)}\n`)
      const place = await storePlaceOf(options, terminal, 'start')
      await using session = await open(storeAt(place, 'auto'), app, {
        operations: true,
        ...(wanted && { roles: wanted as Role[] }),
        ...(options.grace !== undefined && { grace: options.grace }),
        notices: true,
        telemetry: {
          'task:started': ({ at, task, workflow }) => said(at, `${workflow} ${task} started`),
          'task:paused': ({ at, task, workflow, cause }) => said(at, `${workflow} ${task} paused: ${cause}`),
          'task:stopped': ({ at, task, workflow, outcome, error }) =>
            said(at, `${workflow} ${task} ${outcome}${error ? `: ${error.message}` : ''}`),
          'step:retried': ({ at, task, name, attempt, error }) =>
            said(at, `${task} ${name}, attempt ${attempt}: ${error.message}`),
        },
      })
      const { triarch, environment } = session
      await triarch.start()
      said(environment.now(), `started with ${[...app.workflows, ...app.agents].map(({ name }) => name).join(', ')}`)
      if (options.port !== undefined) {
        const server = (await serverPackage()).createServer(triarch, { workflows: app.workflows })
        const { url } = await server.listen({ port: options.port, signals: [] })
        said(environment.now(), `serves ${url}/api/v1/openapi.json`)
      }
      stopOnSignals(triarch)
      await new Promise<never>(() => undefined) // the signal ends the process
    })
}

/** Only who serves needs it. */
async function serverPackage(): Promise<typeof import('@triarch/server')> {
  try {
    return await import('@triarch/server')
  } catch (cause) {
    const message = '--port needs @triarch/server: npm install @triarch/server'
    throw Object.assign(new Failure(exitCodes.usage, 'NO_SERVER', message), { cause })
  }
}
