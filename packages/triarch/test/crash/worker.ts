// One node of the crash test: node worker.ts <store> <ledger> <roles>

import { Triarch } from '../../src/index.ts'
import type { Role } from '../../src/node/options.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { Ledger } from './ledger.ts'
import { workload } from './workload.ts'

const [store = '', path = '', roles = ''] = process.argv.slice(2)
const ledger = new Ledger(path)
const { agents, workflows } = workload(ledger)
const nowhere = { operation: '' as const, key: '', action: '', task: '', step: 0, attempt: 0 }

const triarch = new Triarch({
  store: sqlite(store),
  agents,
  workflows: Object.values(workflows),
  roles: roles.split(',') as Role[],
  lease: 600,
  sweep: 100,
  poll: 10,
  grace: 500,
  notices: false,
  onError(error) {
    const { code, stack } = error as Error & { code?: string }
    ledger.write('error', { ...nowhere, key: code ?? '' }, Date.now(), stack ?? String(error))
  },
})

// Whoever started it is gone: so is this.
process.once('disconnect', () => process.exit())

process.once('SIGTERM', () => {
  triarch.stop().then(
    () => process.exit(0),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
})
await triarch.start()
process.send?.('ready')
