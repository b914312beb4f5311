import { createServer, type Socket } from 'node:net'

// As much of PostgreSQL as a driver can tell: it lets everybody in, and answers each statement as the test says.

/** Rows with names; a SQLSTATE, maybe with where in the server it comes from behind it; or null: no answer at all. */
export type Answer = readonly Readonly<Record<string, string | number | bigint | boolean | null>>[] | string | null

export interface Asked {
  /** Of a prepared statement. */
  name: string
  text: string
  /** As they were sent; what is binary is of no interest here. */
  values: (string | null)[]
  /** Of which connection, from 1. */
  by: number
}

export interface Puppet extends AsyncDisposable {
  url: string
  /** All statements so far. */
  readonly asked: Asked[]
  /** Connections there have been, and those there are. */
  readonly seen: number
  readonly open: number
  /** The first statement with this text that comes, or came, after so many of its kind. */
  heard(text: string, after?: number): Promise<Asked>
  /** Once there are so many connections. */
  opened(count: number): Promise<void>
  /** Tells all that are connected; `by`: the process it comes from. */
  notify(payload: string, by?: number): void
  /** Ends all connections. */
  cut(): void
}

/** The process id that the n-th connection is told. */
export const processOf = (connection: number): number => 1_000 + connection

export async function puppet(answer: (asked: Asked) => Answer): Promise<Puppet> {
  const asked: Asked[] = []
  const sockets = new Set<Socket>()
  let seen = 0
  const looks = new Set<() => void>()
  const look = () => {
    for (const it of [...looks]) it()
  }
  const until = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const it = () => {
        const found = find()
        if (found === undefined) return
        looks.delete(it)
        resolve(found)
      }
      looks.add(it)
      it()
    })
  const server = createServer((socket) => {
    const by = ++seen
    sockets.add(socket)
    socket.setNoDelay(true)
    look()
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      look()
    })
    const texts = new Map<string, string>()
    const talk = { name: '', text: '', values: [] as (string | null)[], parsed: false, status: 'I' }
    const reply = (extended: boolean) => {
      const statement = { name: talk.name, text: talk.text, values: talk.values, by }
      asked.push(statement)
      const given = answer(statement)
      look()
      if (given === null) return
      const [word = ''] = /^\w+/.exec(statement.text.trim()) ?? []
      const parts: Buffer[] = []
      if (typeof given === 'string') {
        if (talk.status === 'T') talk.status = 'E'
        const [code, where] = [given.slice(0, 5), given.slice(6)]
        parts.push(message('E', text('SERROR', `C${code}`, 'Mit', ...(where ? [`W${where}`] : []), '')))
      } else {
        const undone = word === 'COMMIT' && talk.status === 'E'
        if (word === 'BEGIN') talk.status = 'T'
        if (word === 'COMMIT' || word === 'ROLLBACK') talk.status = 'I'
        if (extended && talk.parsed) parts.push(message('1'))
        if (extended) parts.push(message('2'))
        const [first] = given
        if (first) parts.push(message('T', int16(Object.keys(first).length), ...Object.entries(first).map(column)))
        else if (extended) parts.push(message('n'))
        for (const row of given)
          parts.push(message('D', int16(Object.keys(row).length), ...Object.values(row).map(cell)))
        parts.push(message('C', text(undone ? 'ROLLBACK' : word)))
      }
      socket.write(Buffer.concat([...parts, message('Z', Buffer.from(talk.status))]))
    }
    const take = (type: string, body: Buffer) => {
      if (type === 'X') socket.end()
      else if (type === 'Q') {
        Object.assign(talk, { name: '', text: body.toString('utf8', 0, body.length - 1), values: [] })
        reply(false)
      } else if (type === 'P') {
        const [name = '', sql = ''] = body.toString('utf8').split('\0')
        texts.set(name, sql)
        talk.parsed = true
      } else if (type === 'B') {
        const [, name = ''] = body.toString('utf8').split('\0')
        Object.assign(talk, { name, text: texts.get(name) ?? '', values: valuesOf(body.subarray(name.length + 2)) })
      } else if (type === 'S') {
        reply(true)
        talk.parsed = false
      }
    }
    let rest: Buffer = Buffer.alloc(0)
    let started = false
    socket.on('data', (data) => {
      rest = Buffer.concat([rest, data])
      for (;;) {
        const head = started ? 1 : 0
        if (rest.length < head + 4 || rest.length < head + rest.readInt32BE(head)) return
        const size = head + rest.readInt32BE(head)
        const [type, body] = [rest.toString('latin1', 0, head), rest.subarray(head + 4, size)]
        rest = rest.subarray(size)
        if (started) take(type, body)
        else {
          started = true
          const key = Buffer.concat([int32(processOf(by)), int32(0)])
          socket.write(Buffer.concat([message('R', int32(0)), message('K', key), message('Z', Buffer.from('I'))]))
        }
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `postgres://u@127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/d`,
    asked,
    get seen() {
      return seen
    },
    get open() {
      return sockets.size
    },
    heard: (wanted, after = 0) => until(() => asked.filter((it) => it.text.includes(wanted))[after]),
    opened: (count) => until(() => (sockets.size === count ? true : undefined)).then(() => undefined),
    notify(payload, by = 1) {
      for (const socket of sockets) socket.write(message('A', int32(by), text('channel', payload)))
    },
    cut,
    async [Symbol.asyncDispose]() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const TEXT = 25
const types: Readonly<Record<string, number>> = { boolean: 16, bigint: 20, number: 23 }

function column([name, value]: [string, unknown]): Buffer {
  const type = types[typeof value] ?? TEXT
  return Buffer.concat([text(name), int32(0), int16(0), int32(type), int16(-1), int32(-1), int16(0)])
}

function cell(value: string | number | bigint | boolean | null): Buffer {
  if (value === null) return int32(-1)
  const bytes = Buffer.from(typeof value === 'boolean' ? (value ? 't' : 'f') : String(value))
  return Buffer.concat([int32(bytes.length), bytes])
}

/** What such a question says, and on which channels. */
export function spoken({ values }: Pick<Asked, 'values'>): [channel: string, words: string][] {
  return JSON.parse(values[0] ?? '[]') as [string, string][]
}

function valuesOf(body: Buffer): (string | null)[] {
  let at = 2 + 2 * body.readInt16BE(0)
  const count = body.readInt16BE(at)
  at += 2
  return Array.from({ length: count }, () => {
    const size = body.readInt32BE(at)
    at += 4
    if (size < 0) return null
    at += size
    return body.toString('utf8', at - size, at)
  })
}

function message(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int32(4 + body.length), body])
}

function text(...all: string[]): Buffer {
  return Buffer.from(all.map((it) => `${it}\0`).join(''))
}

function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2)
  buffer.writeInt16BE(value)
  return buffer
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32BE(value)
  return buffer
}
