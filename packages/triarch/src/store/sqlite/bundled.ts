/** The writer's thread in one string. The build puts it here, so that a bundle has no file to find; in development it is one. */
export const bundledThread: string | null = null
