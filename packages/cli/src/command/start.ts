import type { Command } from 'commander'
import { type Role, stopOnSignals, type TelemetryListeners } from 'triarch'
import { appOf } from '../app.ts'
import { duration, whole } from '../argument.ts'
import type { CommandDeps } from '../command.ts'
import { endOf, usage } from '../exit.ts'
import { type Shared, storePlaceOf } from '../place.ts'
import { beside, exporter, type Serving, serverKey, serveTasks, watcher } from '../serving.ts'
import { open, storeOfNode } from '../session.ts'
import { cell, instant } from '../table.ts'

const roles: readonly Role[] = ['scheduler', 'agent', 'supervisor']

/** A node without a program of its own. */
export function addStart(program: Command, means: CommandDeps): void {
  program
    .command('start')
    .description(
      'runs a node with what a module exports, until it is told to stop (SIGTERM, SIGINT); makes the store when there is none',
    )
    .argument('<module>', 'the module that exports workflows and agents')
    .option('--roles <roles>', `of ${roles.join(', ')}, with commas between; all`)
    .option('--port <n>', 'serve tasks over HTTP, by @triarch/server; 0: any port', whole('--port', 0, 65_535))
    .option('--next-port', 'where somebody has that port, the next that is free')
    .option(
      '--metrics <n>',
      'serve /metrics for Prometheus on this port, by @triarch/opentelemetry; 0: any port',
      whole('--metrics', 0, 65_535),
    )
    .option(
      '--host <address>',
      'where both listen; 127.0.0.1. Tasks are for those with the key of TRIARCH_SERVER_KEY or TRIARCH_SERVER_KEY_FILE, which all but loopback needs unless there is --keys',
    )
    .option('--keys', 'take API keys of the store as well (triarch key create), and nobody without one')
    .option('--grace <duration>', 'how long running steps may go on when it stops', duration('--grace'))
    .action(async (path: string, _, command: Command) => {
      const options = command.optsWithGlobals<Shared & Serving & { roles?: string; grace?: number }>()
      const wanted = options.roles?.split(',').map((role) => role.trim())
      if (wanted?.some((role) => !roles.some((known) => known === role)))
        throw usage(`--roles: give some of ${roles.join(', ')}`)
      const { terminal } = means
      const { port, metrics, host, keys, nextPort } = options
      const app = await appOf(path)
      const { server, prober, started } = app.duties ?? {}
      const key = port === undefined ? undefined : serverKey(terminal, options, server)
      const said = (at: number, text: string) => terminal.out(`${instant(new Date(at))}  ${cell(text)}\n`)
      const own: TelemetryListeners = {
        'task:started': ({ at, task, workflow }) => said(at, `${workflow} ${task} started`),
        'task:paused': ({ at, task, workflow, cause }) => said(at, `${workflow} ${task} paused: ${cause}`),
        'task:stopped': ({ at, task, workflow, outcome, error }) =>
          said(at, `${workflow} ${task} ${outcome}${error ? `: ${error.message}` : ''}`),
        'step:retried': ({ at, task, name, attempt, error }) =>
          said(at, `${task} ${name}, attempt ${attempt}: ${error.message}`),
      }
      const told = beside(own, app.node?.telemetry)
      const prom = metrics === undefined ? null : await exporter(told)
      const place = await storePlaceOf(options, terminal, 'start')
      await using session = await open(storeOfNode(place), app, {
        ...app.node,
        operations: true,
        ...(wanted && { roles: wanted as Role[] }),
        ...(options.grace !== undefined && { grace: options.grace }),
        notices: true,
        telemetry: prom?.telemetry ?? told,
      })
      const { triarch, environment } = session
      // Where nobody supervises, nobody watches.
      const watches = prober !== undefined && (wanted?.includes('supervisor') ?? true)
      const watch = watches ? await watcher(triarch, prober) : null
      await triarch.start()
      said(environment.now(), `started with ${[...app.workflows, ...app.agents].map(({ name }) => name).join(', ')}`)
      const where = {
        ...(host !== undefined && { host }),
        ...(keys && { keys }),
        ...(nextPort && { nextPort }),
      }
      await using served = port === undefined ? null : await serveTasks(triarch, app, { port, ...where }, key)
      if (served)
        said(
          environment.now(),
          `serves ${served.url}/api/v1/openapi.json${served.console ? ` and the console ${served.url}/` : ''}`,
        )
      if (prom && metrics !== undefined)
        said(environment.now(), `serves ${await prom.listen(triarch, { port: metrics, host })}`)
      watch?.().catch((error) => said(environment.now(), `prober: ${endOf(error).line}`))
      if (port === undefined) stopOnSignals(triarch)
      await started?.(triarch)
      await new Promise<never>(() => undefined) // the signal ends the process
    })
}
