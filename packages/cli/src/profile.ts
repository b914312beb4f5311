import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { exitCodes, Failure, usage } from './exit.ts'
import type { Terminal } from './terminal.ts'

/** Where tasks are, under a name: a server, or a store. */
export interface Profile {
  /** Of a server. */
  url?: string
  /** What the server knows who asks by. */
  key?: string
  /** A file that holds it, in place of `key`. */
  keyFile?: string
  /** A SQLite file, or a PostgreSQL URL. */
  store?: string
  /** The schema in PostgreSQL. */
  schema?: string
}

/** The file of profiles. */
export interface Profiles {
  /** The one that counts where nothing else is said. */
  default?: string
  profiles: Record<string, Profile>
}

const fields = ['url', 'key', 'keyFile', 'store', 'schema'] as const
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i
/** Rights of everybody but the owner. */
const OTHERS = 0o077

/** Where the profiles are: TRIARCH_CONFIG, else below XDG_CONFIG_HOME or the home of the user; null: there is no home. */
export function profilesFile({ env }: Pick<Terminal, 'env'>): string | null {
  if (env.TRIARCH_CONFIG) return env.TRIARCH_CONFIG
  const base = env.XDG_CONFIG_HOME || (env.HOME && join(env.HOME, '.config')) || env.APPDATA
  return base ? join(base, 'triarch', 'config.json') : null
}

/** All profiles; none where there is no file. Refuses a file that others may read: there are keys in it. */
export function profilesOf(terminal: Pick<Terminal, 'env'>): Profiles {
  const path = profilesFile(terminal)
  if (path === null || !existsSync(path)) return { profiles: {} }
  if (process.platform !== 'win32' && (statSync(path).mode & OTHERS) !== 0)
    throw new Failure(exitCodes.forbidden, 'PROFILES_EXPOSED', `other users may open ${path}: chmod 600 it`)
  return checked(path, readFileSync(path, 'utf8'))
}

/** Writes them so that nobody else can read them, and nobody ever sees half of them. */
export function writeProfiles(terminal: Pick<Terminal, 'env'>, profiles: Profiles): string {
  const path = profilesFile(terminal)
  if (path === null) throw usage('there is no home for profiles: set TRIARCH_CONFIG to a file')
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const next = `${path}.${process.pid}`
  writeFileSync(next, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 })
  chmodSync(next, 0o600)
  renameSync(next, path)
  return path
}

/** The name that a profile may have. */
export function profileName(name: string): string {
  if (!NAME.test(name)) throw usage(`a profile has a name of letters, digits, ".", "_" and "-", up to 64`)
  return name
}

function checked(path: string, text: string): Profiles {
  const refused = (why: string) => usage(`${path} is no file of profiles: ${why}`)
  let found: Partial<Profiles> | null
  try {
    found = JSON.parse(text) as Partial<Profiles> | null
  } catch {
    // What a parser quotes of it may be a key.
    throw refused('it is not JSON')
  }
  const { profiles, default: standard, ...rest } = found ?? {}
  if (typeof profiles !== 'object' || profiles === null || Array.isArray(profiles))
    throw refused('it has no "profiles"')
  if (standard !== undefined && typeof standard !== 'string') throw refused('"default" must be the name of a profile')
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw refused(`it has a member "${unknown}"`)
  for (const [name, profile] of Object.entries(profiles)) {
    if (!NAME.test(name) || typeof profile !== 'object' || profile === null) throw refused(`profile "${name}"`)
    for (const [field, value] of Object.entries(profile))
      if (!fields.some((known) => known === field) || typeof value !== 'string')
        throw refused(`profile "${name}": "${field}"`)
    if ((profile.url === undefined) === (profile.store === undefined))
      throw refused(`profile "${name}" must have either a "url" or a "store"`)
  }
  return { profiles, ...(standard !== undefined && { default: standard }) }
}
