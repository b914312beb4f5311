/**
 * The folder of the console's static files, for `createServer(triarch, { console: files })`, or any other server of files.
 * @example
 * import { files } from '@triarch/console'
 * const server = createServer(triarch, { workflows: [fulfil], console: files })
 */
export const files: URL = new URL('../dist/', import.meta.url)
