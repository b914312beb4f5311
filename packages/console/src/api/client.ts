import { signal } from '@preact/signals'
import type { components } from '../../../server/test/typed/api.d.ts'

/** What the API answers, from its own description. */
export type Api = components['schemas']

/** One place of what was sent, such as `items[3].price` (all of it: empty), and what is wrong with it. */
export interface Issue {
  path: string
  message: string
}

/** What went wrong, with the code of the catalogue. `status` 0: nobody answered. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  /** Where the code is explained. */
  readonly page: string | null
  /** Places of what was sent, and what is wrong with each. */
  readonly issues: readonly Issue[]

  constructor(
    status: number,
    code: string,
    message: string,
    page: string | null = null,
    issues: readonly Issue[] = [],
  ) {
    super(message)
    this.status = status
    this.code = code
    this.page = page
    this.issues = issues
  }
}

const root = document.querySelector<HTMLMetaElement>('meta[name="triarch-api"]')?.content ?? '/api/v1'
const KEY = 'triarch-token'

/** The server asks who we are. */
export const isLockedOut = signal(false)

/** It was told, and did not believe it. */
export function wasRefused(): boolean {
  return sessionStorage.getItem(KEY) !== null
}

export function giveToken(token: string): void {
  sessionStorage.setItem(KEY, token)
  isLockedOut.value = false
}

/** Throws ApiError. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const token = sessionStorage.getItem(KEY)
  const headers = { ...(token !== null && { authorization: `Bearer ${token}` }), ...init.headers }
  const response = await fetch(root + path, { ...init, headers }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error
    throw new ApiError(0, 'UNREACHABLE', String(error))
  })
  if (response.ok) return response
  if (response.status === 401) isLockedOut.value = true
  const problem = (await response.json().catch(() => ({}))) as Partial<Api['Problem']>
  throw new ApiError(
    response.status,
    problem.code ?? `HTTP_${response.status}`,
    problem.detail ?? problem.title ?? response.statusText,
    problem.type ?? null,
    [...(problem.errors ?? []), ...((problem.details as { issues?: Issue[] } | undefined)?.issues ?? [])],
  )
}

/** Throws ApiError. */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await send(path, signal ? { signal } : {})
  return parse(await response.text()) as T
}

/** 122 bits of chance, as a UUID. Browsers make one by themselves only for pages that came by HTTPS or from this machine. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Sent again under its key, it changes nothing: each press of a button is one request. Throws ApiError. */
export function post<T = unknown>(path: string, body: object, key: string = newKey()): Promise<T | undefined> {
  return write('POST', path, body, key)
}

/** Says what something is from now on. Throws ApiError. */
export function put<T = unknown>(path: string, body: object): Promise<T | undefined> {
  return write('PUT', path, body, newKey())
}

async function write<T>(method: string, path: string, body: object, key: string): Promise<T | undefined> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  const response = await send(path, { method, headers, body: text(body) })
  const answer = await response.text()
  return answer === '' ? undefined : (parse(answer) as T)
}

/** Whole numbers that a double cannot hold stay what they are. */
export function parse(json: string): unknown {
  // Where none can be, nobody is asked about each value.
  if (!/\d{16}/.test(json)) return JSON.parse(json)
  const exact = (_: string, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
      ? BigInt(source)
      : value
  return JSON.parse(json, exact as (key: string, value: unknown) => unknown)
}

/** The same the other way; `space`: as people read it. */
export function text(value: unknown, space = 0): string {
  const { rawJSON } = JSON as unknown as { rawJSON?: (source: string) => unknown }
  const exact = (_: string, it: unknown) =>
    typeof it === 'bigint' ? (rawJSON ? rawJSON(it.toString()) : it.toString()) : it
  return JSON.stringify(value, exact, space) ?? 'undefined'
}
