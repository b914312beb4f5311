import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findBinaries, openFolder, reachable } from '../database/binaries.ts'
import { DatabaseServer } from '../database/server.ts'

/** Root's own: nobody else may go there. */
let closed: string
beforeEach(() => {
  closed = mkdtempSync(join(tmpdir(), 'orders-closed-'))
})
afterEach(() => rmSync(closed, { recursive: true, force: true }))

const root = process.getuid?.() === 0
const somebody = { uid: 65_534, gid: 65_534 }

describe.runIf(root)('a PostgreSQL that root starts', () => {
  it('runs as a user that can reach it, wherever the checkout is', () => {
    const version = `${process.pid}`
    writeFileSync(join(closed, 'package.json'), JSON.stringify({ name: '@orders/test', version }))
    mkdirSync(join(closed, 'native/bin'), { recursive: true })
    mkdirSync(join(closed, 'native/share'), { mode: 0o700 })
    writeFileSync(join(closed, 'native/bin/initdb'), '', { mode: 0o700 })
    writeFileSync(join(closed, 'native/share/zone'), '', { mode: 0o600 })
    const { folder, user } = findBinaries(closed)
    const copy = join(folder, '..')
    try {
      expect(user).not.toBeNull()
      expect(reachable(join(closed, 'native/bin/initdb'), somebody)).toBe(false)
      expect(reachable(join(folder, 'initdb'), somebody)).toBe(true)
      expect(statSync(join(copy, 'share/zone')).mode & 0o777).toBe(0o644)
      const { ino } = statSync(copy)
      expect(findBinaries(closed).folder).toBe(folder)
      expect(statSync(copy).ino).toBe(ino) // copied once
      rmSync(join(copy, 'share/zone'))
      expect(findBinaries(closed).folder).toBe(folder)
      expect(existsSync(join(copy, 'share/zone'))).toBe(true) // and anew when something of it is gone
    } finally {
      rmSync(copy, { recursive: true })
    }
  })

  it('trusts no copy that somebody else could have made', () => {
    const version = `${process.pid}`
    writeFileSync(join(closed, 'package.json'), JSON.stringify({ name: '@orders/foreign', version }))
    mkdirSync(join(closed, 'native/bin'), { recursive: true })
    writeFileSync(join(closed, 'native/bin/initdb'), '', { mode: 0o755 })
    const foreign = join(tmpdir(), `orders-foreign-${version}`)
    mkdirSync(join(foreign, 'bin'), { recursive: true })
    writeFileSync(join(foreign, 'bin/initdb'), 'evil', { mode: 0o755 })
    chmodSync(foreign, 0o777)
    const { folder } = findBinaries(closed)
    try {
      expect(folder).not.toBe(join(foreign, 'bin'))
      expect(reachable(join(folder, 'initdb'), somebody)).toBe(true)
    } finally {
      for (const copy of [foreign, join(folder, '..')]) rmSync(copy, { recursive: true })
    }
  })

  it('gets a temporary folder where temporary folders are closed', () => {
    const before = process.env.TMPDIR
    process.env.TMPDIR = closed
    try {
      const folder = openFolder('orders-', somebody)
      expect(reachable(folder, somebody)).toBe(true)
      rmSync(folder, { recursive: true })
    } finally {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    }
  })

  it('keeps its data where it can reach it, with a link from where it was wanted', { timeout: 600_000 }, async () => {
    const dir = join(closed, 'run')
    mkdirSync(dir)
    const server = await DatabaseServer.create(dir)
    try {
      expect(lstatSync(join(dir, 'postgres')).isSymbolicLink()).toBe(true)
      expect(realpathSync(join(dir, 'postgres'))).toBe(server.data)
      await server.restart('immediate', 0)
      const client = new pg.Client({ connectionString: server.url() })
      await client.connect()
      expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
      await client.end()
    } finally {
      await server.stop('immediate')
      rmSync(server.data, { recursive: true })
    }
  })
})
