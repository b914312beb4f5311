/**
 * The folder of the console's static files, for `createServer(triarch, { console: files })`, or any other server of files.
 * @example
 * import { files } from '@triarch/console'
 * const { url } = await createServer(triarch, { workflows, console: files }).listen({ port: 8080 })
 */
export const files: URL = new URL('../dist/', import.meta.url)
