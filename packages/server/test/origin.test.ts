import { expect, it } from 'vitest'
import { checkOrigin } from '../src/request/origin.ts'

const page = 'https://shop.example'
const change = (headers: Record<string, string>) =>
  checkOrigin(new Request('http://localhost/', { method: 'POST', headers }), new Set(['https://named.example']))

it.each<[string, Record<string, string>]>([
  ['what is no browser', {}],
  ['a page of this server', { origin: page, host: 'SHOP.example' }],
  ['a page of an origin that is named', { origin: 'https://named.example', host: 'shop.example' }],
  ['what the browser says is of the same origin', { origin: page, 'sec-fetch-site': 'same-origin' }],
  ['whoever types an address', { 'sec-fetch-site': 'none' }],
])('may change something: %s', (_, headers) => {
  expect(() => change(headers)).not.toThrow()
})

it.each<[string, Record<string, string>]>([
  ['a page of another origin', { origin: 'https://evil.example', host: 'shop.example' }],
  ['a page that has no origin', { origin: 'null', host: 'shop.example' }],
  ['where the request does not say what it asks', { origin: page }],
  ['what the browser says is of another', { origin: page, host: 'shop.example', 'sec-fetch-site': 'same-site' }],
])('may change nothing: %s', (_, headers) => {
  expect(() => change(headers)).toThrow(expect.objectContaining({ code: 'CROSS_ORIGIN' }))
})
