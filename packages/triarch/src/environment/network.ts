/**
 * The network address of a process.
 * @example const address: Address = { host: '10.0.0.5', port: 7411 }
 */
export interface Address {
  /** A name or an IP address. */
  host: string
  /** Its port; 0: any free port. */
  port: number
}

/**
 * A connection between two processes that have the same key. Messages arrive whole and in order, or the connection ends.
 * @example const full = ({ waiting }: Channel): boolean => waiting > 1_048_576
 */
export interface Channel {
  /** Bytes that were sent and have not left this process. */
  readonly waiting: number
  /** Sends a text. */
  send(text: string): void
  /** Stops (true) or resumes receiving. */
  pause(on: boolean): void
  /** Closes the connection: nothing more is received. Texts sent before may still arrive. */
  close(): void
}

/**
 * The receiver of a connection's events.
 * @example const ear: ChannelEar = { heard: (text) => console.log(text), closed: (why) => console.log(why) }
 */
export interface ChannelEar {
  /** A text was received. */
  heard(text: string): void
  /** The connection has ended or could not be made. Called once, unless this side closed it. */
  closed(why: string): void
}

/**
 * The keys by which processes of one store authenticate each other. Keys are numbered because they come from the store's secret, which may
 * be rotated.
 * @example const number = ({ current }: ChannelKeys): number => current().number
 */
export interface ChannelKeys {
  /** The key that this process presents when it connects, with its number. */
  current(): { number: number; key: Buffer }
  /** The key of this number; null: there is no valid one. */
  numbered(number: number): Buffer | null
}

/**
 * Connections between processes of one store (`direct`). The default environment uses TLS with a pre-shared key.
 * @example const can = ({ network }: Environment): boolean => network !== undefined
 */
export interface Network {
  /** Accepts connections of processes with a valid key. Rejects if it cannot listen on the address. */
  listen(at: Address, keys: ChannelKeys, accept: (channel: Channel) => ChannelEar): Promise<NetworkListener>
  /** Connects. Texts sent before `opened` is called are lost. */
  dial(at: Address, keys: ChannelKeys, ear: ChannelEar & { opened(): void }): Channel
}

/**
 * A listening address.
 * @example const close = (listening: NetworkListener): void => listening.close()
 */
export interface NetworkListener {
  /** The port that is listened on. */
  readonly port: number
  /** Accepts no more connections; existing ones are kept. */
  close(): void
}
