import type { IssuedKey, KeyActOptions, KeyCreateOptions, KeyInfo, KeyPage, KeyRotateOptions } from 'triarch'
import { type KeyCollection, type KeyHandle, TriarchError } from 'triarch/contract'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { pageQuery } from './page.ts'
import { rotateSecret } from './secret.ts'
import { array, dated, object, text } from './shape.ts'
import { duration, encode } from './value.ts'

const form = /^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/

/**
 * An API key on a server. What hands out a secret is not sent again where its answer was lost, for it would be another secret: make or rotate it
 * anew.
 */
class RemoteKey implements KeyHandle {
  readonly name: string
  readonly #exchange: Exchange
  readonly #path: string

  constructor(exchange: Exchange, name: string) {
    if (typeof name !== 'string' || !form.test(name))
      throw new TriarchError('INVALID_NAME', 'key: the name must be 1 to 63 letters, digits, "." or "-"')
    this.name = name
    this.#exchange = exchange
    this.#path = `/keys/${name}`
  }

  info(): Promise<KeyInfo> {
    return this.#exchange.ask({ method: 'GET', path: this.#path, read: keyInfo })
  }

  async create({ rights, expiresIn, note, reason, actor, ...rest }: KeyCreateOptions): Promise<IssuedKey> {
    known('create', rest)
    const lasts = expiresIn === undefined ? undefined : duration('create: expiresIn', expiresIn)
    return this.#ask('create', { rights, expiresIn: lasts, note, reason, actor }, issued, true)
  }

  async rotate({ reason, actor, overlap, ...rest }: KeyRotateOptions): Promise<IssuedKey> {
    known('rotate', rest)
    const lasts = overlap === undefined ? undefined : duration('rotate: overlap', overlap)
    return this.#ask('rotate', { reason, actor, overlap: lasts }, issued, true)
  }

  async revoke({ reason, actor, ...rest }: KeyActOptions): Promise<KeyInfo> {
    known('revoke', rest)
    return this.#ask('revoke', { reason, actor }, keyInfo, false)
  }

  #ask<T>(control: string, options: object, read: (body: unknown) => T, once: boolean): Promise<T> {
    const body = encode(control, options)
    return this.#exchange.ask({ method: 'POST', path: `${this.#path}/${control}`, body, once, read })
  }
}

export function keysOf(exchange: Exchange): KeyCollection {
  return {
    get: (name) => new RemoteKey(exchange, name),
    list: async (options = {}) => exchange.get(`/keys${pageQuery('keys.list', options)}`, keyPage),
    rotateSecret: async (options) => rotateSecret(exchange, options),
  }
}

function keyPage(value: unknown): KeyPage {
  const page = object(value)
  return { ...page, keys: array(page.keys, keyInfo) }
}

function issued(value: unknown): IssuedKey {
  const { secret, key } = object(value)
  return { secret: text(secret), key: keyInfo(key) }
}

/** Undefined is not said in JSON. */
function keyInfo(value: unknown): KeyInfo {
  const { made, rotated, revoked, ...rest } = dated(value, 'expiresAt', 'usedAt', 'overlapsUntil')
  text(rest.name)
  array(rest.rights, text)
  const word = (said: unknown) => (said === undefined ? undefined : dated(said, 'at'))
  return {
    ...{ note: undefined, expiresAt: undefined, usedAt: undefined, overlapsUntil: undefined, ...rest },
    ...{ made: dated(made, 'at'), rotated: word(rotated), revoked: word(revoked) },
  } as unknown as KeyInfo
}
