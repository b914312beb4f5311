// A supervisor that counts, and dies of itself in the middle: node recount.worker.ts <store> <call> <nth> <before|after>.

import { Triarch } from '../../src/index.ts'
import type { StateStore } from '../../src/store/port.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'

const [path = '', call = '', nth = '1', when = 'before'] = process.argv.slice(2)
let seen = 0
const die = () => process.kill(process.pid, 'SIGKILL')
const open = sqlite(path)
const mortal = (store: StateStore) =>
  new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== call) return value.bind(target)
      return async (...args: unknown[]) => {
        const isLast = ++seen === Number(nth)
        if (isLast && when === 'before') die()
        const result: unknown = await value.apply(target, args)
        if (isLast) die()
        return result
      }
    },
  })
process.once('disconnect', () => process.exit())
const triarch = new Triarch({
  store: (environment) => mortal(open(environment)),
  ...{ roles: ['supervisor'], statistics: { tag: 'tenant' }, lease: 400, sweep: 30, notices: false },
})
await triarch.start()
