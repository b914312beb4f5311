/**
 * The code of the writer's thread: the URL of a file in development, the code itself in the published package, so that
 * a bundle has no file to find. The URL is in this module because bundlers follow a URL that is written where a worker
 * is created; the build replaces this module.
 */
export const writerThread: URL | string = new URL('./thread.ts', import.meta.url)
