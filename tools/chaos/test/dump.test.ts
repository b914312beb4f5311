// A run that is stuck tells what hangs, instead of only running out of time.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres } from '@triarch/postgres'
import { Triarch, workflow } from 'triarch'
import { expect, it } from 'vitest'
import { DatabaseServer } from '../../../examples/orders/database/server.ts'
import { dump } from '../../../packages/triarch/test/crash/evidence.ts'
import { rules } from '../../../packages/triarch/test/crash/rules.ts'
import { openEye, readEvidence, sessions, writersOf } from '../store.ts'

it('its task, history, sessions and locks are shown', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'triarch-dump-'))
  const database = await DatabaseServer.create(dir)
  const eye = openEye(database.url())
  const nobody = workflow('nobody', { run: async () => null })
  const triarch = new Triarch({ store: postgres(database.url()), workflows: [nobody], roles: [] })
  try {
    await triarch.submit(nobody, undefined, { id: 'forgotten' })
    const evidence = await readEvidence(eye, [], { accepted: ['forgotten'], emitted: {}, doubtful: {} })
    const { stuck } = JSON.parse(dump(evidence))
    expect(stuck).toMatchObject([{ row: { id: 'forgotten', status: 'pending', ready: 1 } }])
    expect(stuck[0].history).toMatchObject([{ event: { type: 'submitted', workflow: 'nobody' } }])
    expect(rules.rest?.(evidence)).toEqual(['forgotten: is still pending', 'forgotten: still wants an owner'])
    expect(await sessions(eye)).toMatchObject({ activity: expect.any(Array), locks: [], leases: [] })
    expect(await writersOf(eye)).toContain('triarch.commit')
    expect(await writersOf(eye)).not.toContain('triarch.letters')
  } finally {
    await triarch.stop()
    await eye.close()
    await database.stop('immediate')
    rmSync(dir, { recursive: true, force: true })
  }
})
