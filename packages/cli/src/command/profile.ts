import type { Command } from 'commander'
import { type CommandDeps, confirm } from '../command.ts'
import { exitCodes, Failure, usage } from '../exit.ts'
import { hasPassword, type Shared } from '../place.ts'
import { type Profile, type Profiles, profileName, profilesOf, writeProfiles } from '../profile.ts'
import { Report } from '../report.ts'
import type { Column } from '../table.ts'

interface Shown {
  name: string
  where: string
  key: string
  default: boolean
}

const columns: readonly Column<Shown>[] = [
  ['PROFILE', ({ name }) => name],
  ['DEFAULT', (one) => (one.default ? 'yes' : '')],
  ['KEY', ({ key }) => key],
  ['WHERE', ({ where }) => where],
]

/** Servers and stores by name, in a file that nobody else can read. No command shows a key. */
export function addProfiles(profiles: Command, means: CommandDeps): void {
  const { terminal } = means

  profiles
    .command('list')
    .description('profiles by name; keys are not shown')
    .action((_, command: Command) => {
      const found = profilesOf(terminal)
      const rows = Object.entries(found.profiles)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, profile]) => shown(name, profile, found))
      report(means, command).rows(columns, rows, 'no profile')
    })

  profiles
    .command('set')
    .description('keeps a server or a store under a name; the first one is the default')
    .argument('<name>', 'letters, digits, ".", "_", "-"')
    .option('--key-file <file>', 'of a server: a file with its key, read anew for each command')
    .option('--key-stdin', 'of a server: its key is the standard input, and kept in the file of profiles')
    .action(async (name: string, _, command: Command) => {
      const { url, store, schema, askKey, ...given } = command.optsWithGlobals<Shared & ProfileFlags>()
      if ((url === undefined) === (store === undefined)) throw usage('give either --url or --store')
      const kinds = [given.keyFile, given.keyStdin, askKey].filter((one) => one !== undefined)
      if (kinds.length > 1) throw usage('give one of --key-file, --key-stdin and --ask-key')
      if (kinds.length > 0 && url === undefined) throw usage('a key is of a server: give --url')
      if (url !== undefined && (!/^https?:\/\//.test(url) || hasPassword(url)))
        throw usage('the URL of a server is such as https://tasks.example.com, without a password')
      if (store !== undefined && /^\w+:\/\//.test(store) && hasPassword(store))
        throw usage('a password does not belong on a command line: leave it to PGPASSWORD or a password file')
      const key = given.keyStdin ? (await terminal.read()).trim() : askKey ? await asked(means) : undefined
      if (key === '') throw usage('the key is empty')
      const profile: Profile = {
        ...(url !== undefined && { url }),
        ...(store !== undefined && { store }),
        ...(schema !== undefined && { schema }),
        ...(given.keyFile !== undefined && { keyFile: given.keyFile }),
        ...(key !== undefined && { key }),
      }
      const found = profilesOf(terminal)
      const next: Profiles = {
        default: found.default ?? name,
        profiles: { ...found.profiles, [profileName(name)]: profile },
      }
      writeProfiles(terminal, next)
      said(means, command, shown(name, profile, next))
    })

  profiles
    .command('use')
    .description('makes a profile the one that counts where nothing else is said')
    .argument('<name>', 'of the profile')
    .action((name: string, _, command: Command) => {
      const found = profilesOf(terminal)
      const profile = known(found, name)
      const next = { ...found, default: name }
      writeProfiles(terminal, next)
      said(means, command, shown(name, profile, next))
    })

  profiles
    .command('remove')
    .description('forgets a profile, and its key')
    .argument('<name>', 'of the profile')
    .option('--yes', 'do not ask')
    .action(async (name: string, { yes }: { yes?: true }, command: Command) => {
      const { default: standard, profiles: all } = profilesOf(terminal)
      const profile = known({ profiles: all }, name)
      await confirm(means, yes, `Forget profile "${name}"`)
      const { [name]: _, ...rest } = all
      const next = { profiles: rest, ...(standard !== undefined && standard !== name && { default: standard }) }
      writeProfiles(terminal, next)
      said(means, command, shown(name, profile, next))
    })
}

interface ProfileFlags {
  keyFile?: string
  keyStdin?: true
}

async function asked({ terminal }: CommandDeps): Promise<string> {
  const key = await terminal.secret('key: ')
  if (key === null) throw usage('--ask-key: nobody is there to ask: use --key-stdin or --key-file')
  return key.trim()
}

function known({ profiles }: Profiles, name: string): Profile {
  const profile = profiles[name]
  if (profile === undefined) throw new Failure(exitCodes.absent, 'NO_PROFILE', `there is no profile "${name}"`)
  return profile
}

function shown(name: string, { url, store, key, keyFile }: Profile, { default: standard }: Profiles): Shown {
  const address = url ?? store ?? ''
  return {
    name,
    where: /^\w+:\/\//.test(address) && hasPassword(address) ? address.replace(/:[^:@/]*@/, ':…@') : address,
    key: key !== undefined ? 'kept' : (keyFile ?? ''),
    default: name === standard,
  }
}

function report(means: CommandDeps, command: Command): Report {
  return new Report(means.terminal, command.optsWithGlobals<Shared>())
}

function said(means: CommandDeps, command: Command, { name, where, key }: Shown): void {
  report(means, command).one({ name, where, key }, { profile: name, where, key: key === '' ? undefined : key })
}
