import { read, readKey } from './argument.ts'
import { exitCodes, Failure, usage } from './exit.ts'
import { type Profile, profilesOf } from './profile.ts'
import type { Terminal } from './terminal.ts'

/** Options that every command takes. */
export interface Shared {
  store?: string
  schema?: string
  url?: string
  profile?: string
  askKey?: true
  insecure?: true
  json?: true
  jsonl?: true
}

/** A store that this command opens itself. */
export type StorePlace = { type: 'sqlite'; path: string } | { type: 'postgres'; url: string; schema: string }

/** Where the tasks are. */
export type Place = StorePlace | { type: 'server'; url: string; key?: string }

/**
 * By the option, else the environment, else the profile that is the default: what is secret in an address is never on a command line, where
 * all users of a machine see it.
 */
export async function placeOf(shared: Shared, terminal: Terminal): Promise<Place> {
  const { env } = terminal
  const { store, url, profile, schema } = shared
  if ([store, url, profile].filter((one) => one !== undefined).length > 1)
    throw usage('give one of --store, --url and --profile')
  if (url !== undefined) return serverOf(url, await keyOf({}, shared, terminal), shared)
  if (store !== undefined) return storeOf(store, schema ?? env.TRIARCH_SCHEMA, true)
  if (profile !== undefined) return named(profile, shared, terminal)
  const file = env.TRIARCH_STORE_FILE
  const given = env.TRIARCH_STORE ?? (file === undefined ? undefined : read(file).trim())
  if (given && env.TRIARCH_URL)
    throw usage('both TRIARCH_URL and a store are set: give --url or --store, or unset one of them')
  if (env.TRIARCH_URL) return serverOf(env.TRIARCH_URL, await keyOf({}, shared, terminal), shared)
  if (given) return storeOf(given, schema ?? env.TRIARCH_SCHEMA, false)
  const standard = env.TRIARCH_PROFILE ?? profilesOf(terminal).default
  if (standard !== undefined) return named(standard, shared, terminal)
  throw usage(
    'nowhere to look: give --store shop.db or --url https://…, or set TRIARCH_STORE, TRIARCH_URL or a profile',
  )
}

/** The same, for what only the store itself can do. */
export async function storePlaceOf(shared: Shared, terminal: Terminal, what: string): Promise<StorePlace> {
  const place = await placeOf(shared, terminal)
  if (place.type === 'server') throw needsStore(what)
  return place
}

/** Why a server's URL is not enough. */
export function needsStore(what: string): Failure {
  return new Failure(
    exitCodes.usage,
    'NEEDS_STORE',
    `${what} works on the store itself, and a server was given: give --store`,
  )
}

async function named(name: string, shared: Shared, terminal: Terminal): Promise<Place> {
  const profile = profilesOf(terminal).profiles[name]
  if (profile === undefined)
    throw new Failure(exitCodes.absent, 'NO_PROFILE', `there is no profile "${name}": triarch profile list`)
  const { url, store, schema } = profile
  if (url === undefined) return storeOf(store ?? '', shared.schema ?? schema ?? terminal.env.TRIARCH_SCHEMA, false)
  return serverOf(url, await keyOf(profile, shared, terminal), shared)
}

/** From a person, the profile, the environment or a file. */
async function keyOf(profile: Profile, { askKey }: Shared, terminal: Terminal): Promise<string | undefined> {
  const { env } = terminal
  if (askKey) {
    const said = await terminal.secret('key: ')
    if (said === null) throw usage('--ask-key: nobody is there to ask: set TRIARCH_KEY or TRIARCH_KEY_FILE')
    return said.trim()
  }
  if (profile.key !== undefined) return profile.key
  if (profile.keyFile !== undefined) return readKey(profile.keyFile)
  if (env.TRIARCH_KEY) return env.TRIARCH_KEY
  return env.TRIARCH_KEY_FILE ? readKey(env.TRIARCH_KEY_FILE) : undefined
}

/** A key is read by everybody on the way unless it is encrypted, or never leaves the machine. */
function serverOf(given: string, key: string | undefined, { insecure }: Shared): Place {
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
    throw usage('the URL of a server is such as https://tasks.example.com')
  const { protocol, hostname, username, password } = new URL(given)
  if (username !== '' || password !== '')
    throw usage('a password does not belong into the URL: set TRIARCH_KEY, TRIARCH_KEY_FILE, or use --ask-key')
  const isNear = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
  if (key && protocol === 'http:' && !isNear && !insecure)
    throw usage(`a key would go to ${hostname} unencrypted: use https:, or say --insecure`)
  return { type: 'server', url: given, ...(key && { key }) }
}

function storeOf(given: string, schema: string | undefined, isArgument: boolean): StorePlace {
  if (!/^postgres(?:ql)?:\/\//.test(given)) {
    if (/^https?:\/\//.test(given)) throw usage('that is the URL of a server: give it as --url or TRIARCH_URL')
    if (/^\w+:\/\//.test(given)) throw usage('the store is neither a file nor a postgres:// URL')
    return { type: 'sqlite', path: given }
  }
  if (isArgument && hasPassword(given))
    throw usage('a password does not belong on a command line: set TRIARCH_STORE, TRIARCH_STORE_FILE or PGPASSWORD')
  return { type: 'postgres', url: given, schema: schema ?? 'triarch' }
}

/** Whether an address has a password in it, or may have. */
export function hasPassword(url: string): boolean {
  try {
    const { password, searchParams } = new URL(url)
    return password !== '' || searchParams.has('password')
  } catch {
    return true
  }
}
