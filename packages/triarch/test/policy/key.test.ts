import { describe, expect, it } from 'vitest'
import { type KeyState, keyStatus, nextLoss, revoked, rotated, secretsOf } from '../../src/policy/key.ts'

const act = (at: number) => ({ by: 'ada', reason: 'a test', at })
const key: KeyState = {
  ...{ id: 'k', rights: ['read'], note: null, made: act(0), expiresAt: null },
  ...{ secrets: [{ hash: 'first', until: null }], rotated: null, revoked: null },
}
const expiring: KeyState = { ...key, expiresAt: 1_000 }
const hashes = (state: KeyState | null, now: number) => state && secretsOf(state, now).map(({ hash }) => hash)

describe('a key', () => {
  it('holds until the instant at which it expires, or until it is revoked', () => {
    expect(keyStatus(key, 1e12)).toBe('active')
    expect([999, 1_000].map((now) => keyStatus(expiring, now))).toEqual(['active', 'expired'])
    const ended = revoked(expiring, act(500))
    expect(ended).toMatchObject({ revoked: act(500), secrets: [] })
    expect(keyStatus(ended as KeyState, 500)).toBe('revoked')
    expect(keyStatus(ended as KeyState, 2_000)).toBe('revoked')
  })

  it('that has ended has no secrets, and is neither rotated nor revoked', () => {
    expect(hashes(expiring, 999)).toEqual(['first'])
    expect(hashes(expiring, 1_000)).toEqual([])
    expect(rotated(expiring, 'second', 100, act(1_000))).toBe(null)
    expect(revoked(expiring, act(1_000))).toBe(null)
    expect(rotated(expiring, 'second', 100, act(999))).not.toBe(null)
  })

  it('that is rotated is known by its new secret, and by the one before until the overlap is over', () => {
    const state = rotated(key, 'second', 100, act(500))
    expect(state?.rotated).toEqual(act(500))
    expect([500, 599, 600].map((now) => hashes(state, now))).toEqual([
      ['second', 'first'],
      ['second', 'first'],
      ['second'],
    ])
    // Of those before it only the newest holds.
    expect(hashes(rotated(state as KeyState, 'third', 100, act(510)), 520)).toEqual(['third', 'second'])
  })

  it('that is rotated without an overlap is known by its new secret alone', () => {
    expect(rotated(key, 'second', 0, act(500))?.secrets).toEqual([{ hash: 'second', until: null }])
    expect(rotated({ ...key, secrets: [] }, 'second', 100, act(500))?.secrets).toEqual([
      { hash: 'second', until: null },
    ])
  })

  it('loses something next when a secret or the key itself ends, whichever comes first', () => {
    expect(nextLoss(key, 0)).toBe(null)
    expect(nextLoss(expiring, 0)).toBe(1_000)
    expect(nextLoss(expiring, 1_000)).toBe(null)
    expect(nextLoss(rotated(key, 'second', 100, act(500)) as KeyState, 500)).toBe(600)
    expect(nextLoss(rotated(expiring, 'second', 100, act(500)) as KeyState, 500)).toBe(600)
    expect(nextLoss(rotated(expiring, 'second', 700, act(500)) as KeyState, 500)).toBe(1_000)
  })
})
