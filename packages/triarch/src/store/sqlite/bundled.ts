/**
 * The writer's thread: a file in development, and in what is published its code, so that a bundle has no file to find. A bundler follows a URL
 * that is written where a worker is made, which is why it stands here: the build replaces this module.
 */
export const writerThread: URL | string = new URL('./thread.ts', import.meta.url)
