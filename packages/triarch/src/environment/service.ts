/**
 * A part of a node that lives as long as the node does: it starts, stops and drains, or is abandoned. Whoever owns several leads
 * all of them through the same life.
 */
export interface Service {
  start(): void
  /** Begins nothing new. What is under way goes on. */
  stop(): void
  /** After stop(): resolves when nothing of it is under way and all is handed back. What still runs after `grace` ms is cut off. */
  drain(grace: number): Promise<unknown>
  /** Others have what it had, or will: it begins nothing new, tells what still runs to end, and waits for nothing. */
  abandon(reason: Error): void
}
