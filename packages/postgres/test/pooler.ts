import { createServer, type Socket } from 'node:net'
import pg from 'pg'

// A pooler in the manner of PgBouncer's transaction mode: each transaction of a client may run in another of a few
// sessions, and nothing a client leaves behind in one is there for its next. Settings of a session are refused.

export interface Pooler extends AsyncDisposable {
  url: string
  /** Transactions passed on so far. */
  readonly transactions: number
}

interface Session {
  socket: Socket
}

const SSL_REQUEST = 80877103
const refused = ['options', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']

export async function pooler(url: string, size: number): Promise<Pooler> {
  const free: Session[] = []
  const waiting: ((session: Session) => void)[] = []
  const sockets = new Set<Socket>()
  let transactions = 0

  const give = (session: Session) => {
    const next = waiting.shift()
    if (next) next(session)
    else free.push(session)
  }
  const grow = async () => give({ socket: await session(url) })
  // The one that rested longest, so that a client sees another session each time.
  const take = () => {
    const session = free.shift()
    return session ? Promise.resolve(session) : new Promise<Session>((resolve) => waiting.push(resolve))
  }
  await Promise.all(Array.from({ length: size }, grow))

  const server = createServer({ noDelay: true }, (client) => {
    sockets.add(client)
    let mine: Session | null = null
    const asked: Buffer[] = []
    let taking = false
    const forward = async (message: Buffer) => {
      asked.push(message)
      if (taking) return
      if (!mine) {
        taking = true
        mine = await take()
        taking = false
        transactions++
        const { socket } = mine
        const answer = frames((type, whole) => {
          client.write(whole)
          if (type !== 'Z' || whole.toString('latin1', 5, 6) !== 'I' || !mine) return
          socket.removeAllListeners('data')
          give(mine)
          mine = null
        })
        socket.on('data', answer)
      }
      for (const message of asked.splice(0)) mine.socket.write(message)
    }
    let started = false
    const later = frames((type, whole) => {
      if (type !== 'X') void forward(whole)
    })
    let head = Buffer.alloc(0)
    client.on('data', (data: Buffer) => {
      if (started) return later(data)
      head = Buffer.concat([head, data])
      if (head.length < 8 || head.length < head.readInt32BE(0)) return
      const startup = head.subarray(0, head.readInt32BE(0))
      head = head.subarray(startup.length)
      if (startup.readInt32BE(4) === SSL_REQUEST) return void client.write('N')
      const settings = startup.toString('utf8', 8).split('\0')
      const alien = refused.find((name) => settings.includes(name))
      if (alien) return void client.end(frame('E', `SFATAL\0C08P01\0Munsupported startup parameter: ${alien}\0\0`))
      started = true
      client.write(Buffer.concat([frame('R', '\0\0\0\0'), frame('K', '\0\0\0\0\0\0\0\0'), frame('Z', 'I')]))
      later(head)
    })
    client.on('error', () => undefined)
    client.on('close', () => {
      sockets.delete(client)
      // In the midst of a transaction: the session goes with its client.
      if (!mine) return
      mine.socket.removeAllListeners('data')
      mine.socket.destroy()
      mine = null
      if (server.listening) void grow()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const through = new URL(url)
  through.port = String(typeof address === 'object' && address ? address.port : 0)
  return {
    url: through.href,
    get transactions() {
      return transactions
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      for (const { socket } of free) socket.destroy()
      await closed
    },
  }
}

/** The socket of a session that is let in and idle. */
async function session(url: string): Promise<Socket> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  for (const event of ['data', 'end', 'close', 'error']) stream.removeAllListeners(event)
  stream.setNoDelay(true)
  return stream.on('error', () => undefined)
}

/** Takes bytes, tells each message. */
function frames(told: (type: string, whole: Buffer) => void): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (data) => {
    rest = rest.length > 0 ? Buffer.concat([rest, data]) : data
    while (rest.length >= 5 && rest.length >= 1 + rest.readInt32BE(1)) {
      const whole = rest.subarray(0, 1 + rest.readInt32BE(1))
      rest = rest.subarray(whole.length)
      told(whole.toString('latin1', 0, 1), whole)
    }
  }
}

function frame(type: string, body: string): Buffer {
  const size = Buffer.alloc(4)
  size.writeInt32BE(4 + Buffer.byteLength(body))
  return Buffer.concat([Buffer.from(type), size, Buffer.from(body)])
}
