import { connect, createServer, type Socket } from 'node:net'

/** A wire to the server that can be cut, and that can lose answers. */
export interface Wire extends AsyncDisposable {
  url: string
  /** Ends all connections. */
  cut(): void
  /** Lets requests through but no answers; the first that comes ends its connection. Then all is well again. */
  loseAnswer(): Promise<void>
  /** The same with the answer to the next request that holds this text; all others get theirs. */
  loseAnswerTo(text: string): Promise<void>
  /** Nothing passes any more, and nothing ends, as when the other side's machine is gone. */
  hush(): void
  /** Accepts no more connections, until called with false. */
  refuse(refused: boolean): void
}

export async function wire(url: string): Promise<Wire> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let refused = false
  let losing: (() => void) | null = null
  /** Only the answer to a request with this text is to be lost. */
  let wanted: string | null = null
  let armed = false
  const server = createServer((client) => {
    if (refused) return void client.destroy()
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    let doomed = false
    client.on('data', (data) => {
      if (wanted && data.includes(wanted)) {
        wanted = null
        doomed = true
      }
      upstream.write(data)
    })
    upstream.on('data', (data) => {
      if (!losing || (armed && !doomed)) return void client.write(data)
      losing()
      losing = null
      armed = false
      client.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const through = new URL(url)
  through.port = String(typeof address === 'object' && address ? address.port : 0)
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: through.href,
    cut,
    loseAnswer: () =>
      new Promise((resolve) => {
        losing = resolve
      }),
    loseAnswerTo: (text) =>
      new Promise((resolve) => {
        losing = resolve
        wanted = text
        armed = true
      }),
    hush() {
      for (const socket of sockets) socket.pause()
    },
    refuse: (value) => {
      refused = value
    },
    async [Symbol.asyncDispose]() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
