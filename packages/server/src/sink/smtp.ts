import { createRequire } from 'node:module'
import { type AlertNotification, type AlertSink, type QuietHours, TriarchError } from 'triarch'
import { known } from '../options.ts'

/**
 * A mailbox that is told of alerts.
 * @example
 * const options: SmtpSinkOptions = {
 *   host: 'mail.example.com',
 *   auth: { user: 'triarch', pass: process.env.SMTP_PASSWORD ?? '' },
 *   from: 'triarch@example.com',
 *   to: ['ops@example.com'],
 * }
 */
export interface SmtpSinkOptions {
  /** What the sink is called; 'smtp'. */
  name?: string
  /** The mail server. */
  host: string
  /** Its port; 587, of 'implicit' 465, of 'none' 25. */
  port?: number
  /** How the connection is secured: 'starttls', before anything is said; 'implicit', from its first byte on; 'none', not at all. 'starttls'. */
  tls?: 'starttls' | 'implicit' | 'none'
  /** Certificates, as PEM, by which that of the server is judged; those of Node. */
  ca?: string
  /** Whom the server lets in. Never over a connection that is not secured; nobody. */
  auth?: { user: string; pass: string }
  /** Who writes: `ops@example.com`, or `Triarch <ops@example.com>`. */
  from: string
  /** Who is written to, all in one mail: 1 to 50. It was told where the server takes one of them. */
  to: string | readonly string[]
  /** When it is left alone; never. */
  quiet?: QuietHours
}

/** What is used of nodemailer. */
interface Nodemailer {
  createTransport(options: object): { sendMail(mail: object): Promise<unknown> }
}

const ports = { starttls: 587, implicit: 465, none: 25 } as const
const MOST = 50
/** Characters of a subject. */
const SUBJECT = 200
/** How long the server may be silent (ms). */
const PATIENCE = 10_000
const words: Readonly<Record<AlertNotification['news'], string>> = {
  raised: '',
  repeated: 'still: ',
  ended: 'over: ',
  test: 'test: ',
}

/**
 * A sink that is a mailbox: each notification is a mail, whose `Message-ID` is the same however often it is tried, and all mails of one opening
 * are one thread. Needs the package `nodemailer`. Throws PACKAGE_MISSING, UNKNOWN_OPTION, INVALID_OPTION.
 * @example
 * const mailbox = smtpSink({
 *   host: 'mail.example.com',
 *   auth: { user: 'triarch', pass: process.env.SMTP_PASSWORD ?? '' },
 *   from: 'triarch@example.com',
 *   to: 'ops@example.com',
 * })
 */
export function smtpSink(options: SmtpSinkOptions): AlertSink {
  known('smtpSink', options, ['name', 'host', 'port', 'tls', 'ca', 'auth', 'from', 'to', 'quiet'])
  const { name = 'smtp', host, tls = 'starttls', ca, auth, from, to, quiet } = options
  if (!Object.hasOwn(ports, tls)) throw invalid('tls must be "starttls", "implicit" or "none"')
  const { port = ports[tls] } = options
  if (typeof host !== 'string' || !/^[\w.:-]{1,253}$/.test(host)) throw invalid('host must be the name of a server')
  if (!Number.isSafeInteger(port) || port < 1 || port > 65_535)
    throw invalid('port must be a whole number from 1 to 65535')
  if (auth !== undefined && (typeof auth?.user !== 'string' || typeof auth.pass !== 'string'))
    throw invalid('auth must have a user and a pass')
  if (auth && tls === 'none') throw invalid('auth needs a connection that is secured')
  if (ca !== undefined && (typeof ca !== 'string' || tls === 'none')) throw invalid('ca must be PEM, and needs tls')
  const all = Array.isArray(to) ? to : [to]
  if (all.length === 0 || all.length > MOST || ![from, ...all].every(isAddress))
    throw invalid(`from must be an address of mail, and to 1 to ${MOST} of them`)
  const transport = nodemailer().createTransport({
    ...{ host, port, secure: tls === 'implicit', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
    ...(ca !== undefined && { tls: { ca } }),
    ...(auth && { auth: { user: auth.user, pass: auth.pass } }),
    // What is given up on its signal's word ends by itself.
    ...{ connectionTimeout: PATIENCE, greetingTimeout: PATIENCE, socketTimeout: PATIENCE, dnsTimeout: PATIENCE },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
  return {
    name,
    ...(quiet && { quiet }),
    send: async (notification) => void (await transport.sendMail({ from, to: all, ...mailOf(notification) })),
  }
}

function mailOf(notification: AlertNotification): object {
  const { id, news, name, opening, rule, subject, severity, message, since, at, group } = notification
  const title = `[Triarch] ${severity}: ${words[news]}${message}`.replace(/\s+/g, ' ')
  const about = { alert: name, rule, subject, severity, since: since.toISOString(), at: at.toISOString(), opening }
  const lines = Object.entries(about).map(([key, value]) => `${key}: ${value}`)
  const all = group?.alerts.map((one) => `- ${one.name}: ${one.message} (since ${one.since.toISOString()})`) ?? []
  const more = group && group.count > all.length ? [`- and ${group.count - all.length} more`] : []
  return {
    messageId: idOf(id),
    references: [idOf(opening)],
    subject: title.length > SUBJECT ? `${title.slice(0, SUBJECT - 1)}…` : title,
    text: [`${words[news]}${message}`, '', ...lines, '', ...all, ...more, ''].join('\n'),
    // Nobody's absence answers it (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}

function idOf(id: string): string {
  return `<${encodeURIComponent(id)}@triarch.invalid>`
}

function isAddress(given: unknown): boolean {
  return typeof given === 'string' && given.length <= 320 && /^[^\r\n,;]+$/.test(given) && /[^\s@]@[^\s@]/.test(given)
}

/** Only who sends mail has it. */
function nodemailer(): Nodemailer {
  try {
    return createRequire(import.meta.url)('nodemailer') as Nodemailer
  } catch (cause) {
    throw new TriarchError('PACKAGE_MISSING', 'smtpSink needs the package "nodemailer": npm install nodemailer', {
      cause,
    })
  }
}

function invalid(problem: string): TriarchError {
  return new TriarchError('INVALID_OPTION', `smtpSink: ${problem}`)
}
