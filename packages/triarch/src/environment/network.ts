/**
 * Where a process is reached.
 * @example const address: Address = { host: '10.0.0.5', port: 7411 }
 */
export interface Address {
  /** A name or an IP address. */
  host: string
  /** Its port; where one is to be chosen: 0. */
  port: number
}

/**
 * A connection between two processes that have the same key. What is said arrives whole and in order, or the connection ends.
 * @example const full = ({ waiting }: Channel): boolean => waiting > 1_048_576
 */
export interface Channel {
  /** Bytes that were said and have not left this process. */
  readonly waiting: number
  /** Says a text. */
  send(text: string): void
  /** Hears nothing for now (true), or goes on hearing. */
  pause(on: boolean): void
  /** Ends it: nothing is heard of it any more. What was said may still arrive. */
  close(): void
}

/**
 * Who is told of a connection.
 * @example const ear: ChannelEar = { heard: (text) => console.log(text), closed: (why) => console.log(why) }
 */
export interface ChannelEar {
  /** The other side said this. */
  heard(text: string): void
  /** It is no more, or never came to be. Called once, unless this side closed it. */
  closed(why: string): void
}

/**
 * The keys by which processes of one store know each other. They have numbers, for the secret of the store that they come from may be rotated.
 * @example const number = ({ current }: ChannelKeys): number => current().number
 */
export interface ChannelKeys {
  /** The key that this process shows when it connects, and its number. */
  current(): { number: number; key: Buffer }
  /** The key of this number; null: none of that number holds. */
  numbered(number: number): Buffer | null
}

/**
 * How processes of one store reach each other (`direct`). Without an environment of one's own: TLS, by a key that both sides know.
 * @example const can = ({ network }: Environment): boolean => network !== undefined
 */
export interface Network {
  /** Takes connections of those who have a key that holds. Rejects where the address cannot be had. */
  listen(at: Address, keys: ChannelKeys, accept: (channel: Channel) => ChannelEar): Promise<NetworkListener>
  /** Connects. What is said before `opened` is called is lost. */
  dial(at: Address, keys: ChannelKeys, ear: ChannelEar & { opened(): void }): Channel
}

/**
 * A place where connections are taken.
 * @example const close = (listening: NetworkListener): void => listening.close()
 */
export interface NetworkListener {
  /** The port that was had. */
  readonly port: number
  /** Takes no more. Connections that there are go on. */
  close(): void
}
