// Runs before a program that `triarch dev` starts (`--import`): tells it of each module that the program loads, to watch the file.
import { registerHooks } from 'node:module'

// A worker thread has no channel: what only that loads is not watched.
if (process.send) {
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
