import { registerHooks } from 'node:module'

/** Set in the process that `triarch dev` starts. */
export const REPORTS_LOADS = 'TRIARCH_REPORTS_LOADS'

/** Tells a `triarch dev` that started this process of each module that it loads from now on, so that its file is watched. */
export function reportLoads(): void {
  // A worker thread has no channel: what only that loads is not watched.
  if (process.env[REPORTS_LOADS] === undefined || !process.send) return
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:') && !url.includes('/node_modules/')) process.send?.({ loaded: url })
      return next(url, context)
    },
  })
  // A `dev` that was killed cannot end what it started.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel?.unref()
}
