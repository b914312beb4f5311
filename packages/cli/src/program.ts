import { Command } from 'commander'
import { addAlerts } from './command/alert.ts'
import { addAudit } from './command/audit.ts'
import { addBreakers } from './command/breaker.ts'
import { addCaches } from './command/cache.ts'
import { addCompletion } from './command/completion.ts'
import { addControls } from './command/control.ts'
import { addDemand } from './command/demand.ts'
import { addDev } from './command/dev.ts'
import { addDoctor } from './command/doctor.ts'
import { addExport } from './command/export.ts'
import { addHealth } from './command/health.ts'
import { addImport } from './command/import.ts'
import { addInventories } from './command/inventory.ts'
import { addKeys } from './command/key.ts'
import { addLogs } from './command/log.ts'
import { addMigrate } from './command/migrate.ts'
import { addNodes } from './command/node.ts'
import { addOperations } from './command/operation.ts'
import { addProbes } from './command/probe.ts'
import { addProfiles } from './command/profile.ts'
import { addRateLimits } from './command/rate-limit.ts'
import { addReplay } from './command/replay.ts'
import { addSchedules } from './command/schedule.ts'
import { addSecret } from './command/secret.ts'
import { addSettings } from './command/setting.ts'
import { addStart } from './command/start.ts'
import { addRecount, addStatistics } from './command/statistics.ts'
import { addTasks } from './command/task.ts'
import { addTop } from './command/top.ts'
import type { CommandDeps } from './command.ts'
import type { ExitCode } from './exit.ts'
import { version } from './manifest.ts'
import type { Terminal } from './terminal.ts'

/** All commands. Each throws what goes wrong, and says by `end` what else it ends with. */
export function programOf(terminal: Terminal, end: (exit: ExitCode) => void): Command {
  const program = new Command('triarch')
    .description('Look at durable tasks and act on them.')
    .version(version, '--version', 'the version of this command')
    .option('--store <file|url>', 'a SQLite file, or a PostgreSQL URL without a password (TRIARCH_STORE)')
    .option('--schema <name>', 'the schema in PostgreSQL (TRIARCH_SCHEMA; triarch)')
    .option('--url <url>', 'a server, by its URL; its key is asked of TRIARCH_KEY or TRIARCH_KEY_FILE (TRIARCH_URL)')
    .option('--profile <name>', 'what `triarch profile` keeps under this name (TRIARCH_PROFILE)')
    .option('--ask-key', 'ask for the key of the server on the terminal')
    .option('--insecure', 'let a key go to another machine over http:, where everybody on the way can read it')
    .option('--json', 'what was found as one JSON value')
    .option('--jsonl', 'what was found as JSON, one value a line')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.err(told(text)) })
  const means: CommandDeps = { terminal, end }
  const tasks = program.command('task').description('tasks')
  addTasks(tasks, means)
  addLogs(tasks, means)
  addControls(tasks, means)
  addSchedules(program.command('schedule').description('schedules'), means)
  addOperations(program.command('operation').description('one thing for many tasks'), means)
  addNodes(program, means)
  addInventories(program, means)
  addRateLimits(program.command('rate-limit').description('rate limits'), means)
  addDemand(program, means)
  addBreakers(program.command('breaker').description('circuit breakers'), means)
  addSettings(program.command('setting').description('values that all nodes share'), means)
  addSecret(program.command('secret').description('what resume tokens are signed by'), means)
  addKeys(program.command('key').description('keys by which others ask a server'), means)
  addAlerts(program.command('alert').description('what is wrong now, and who has it in hand'), means)
  addStatistics(program, means)
  addRecount(program, means)
  addAudit(program, means)
  addCaches(program.command('cache').description('answers that are kept'), means)
  addProfiles(program.command('profile').description('servers and stores by name'), means)
  addMigrate(program.command('migrate').description("the store's schema"), means)
  addDoctor(program, means)
  addHealth(program, means)
  addProbes(program.command('probe').description('endpoints that are watched from outside'), means)
  addExport(program, means)
  addImport(program, means)
  addReplay(program, means)
  addStart(program, means)
  addDev(program, means)
  addTop(program, means)
  addCompletion(program, means)
  return program
}

/** Commander's own complaints as ours are: one line. */
function told(text: string): string {
  return text.startsWith('error: ')
    ? `triarch: USAGE: ${text
        .slice(7)
        .trim()
        .replace(/\s*\n\s*/g, ' ')}\n`
    : text
}
