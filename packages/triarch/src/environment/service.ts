/**
 * A part of a node with the node's lifetime: it starts, stops and drains, or is abandoned. An owner of several services takes all of them
 * through these stages.
 */
export interface Service {
  start(): void
  /** Begins nothing new; work under way continues. */
  stop(): void
  /**
   * Called after stop(): resolves when no work is under way and everything is handed back. Work that still runs after `grace` ms is cut
   * off.
   */
  drain(grace: number): Promise<unknown>
  /** Called when other nodes have taken over, or will: begins nothing new, aborts what still runs, and waits for nothing. */
  abandon(reason: Error): void
}
