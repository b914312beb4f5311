import { describe, expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import { eventFields, type Field, type Fields, type Kind, type Shape } from '../../src/kernel/field.ts'
import type { ErrorRecord, Json } from '../../src/kernel/json.ts'
import { Redaction, redactionOf } from '../../src/kernel/redaction.ts'
import { HIDDEN } from '../../src/kernel/secret.ts'
import { isVeiled, unveil, veil } from '../../src/kernel/veiled.ts'

const TEXT = 'swordfish'
const error: ErrorRecord = {
  name: 'Error',
  message: `it was ${TEXT}`,
  details: { TEXT },
  cause: { name: 'E', message: TEXT },
}
const samples: Record<Kind, unknown> = {
  ...{ payload: { a: [TEXT, { b: `x ${TEXT}` }] }, error, words: `for ${TEXT}`, name: `of ${TEXT}` },
  ...{ secrets: [TEXT], plain: 4711, unknown: TEXT },
}

/** A value with all that the table knows of it. */
function populated(shape: Shape): unknown {
  if (typeof shape === 'string') return samples[shape]
  if (Array.isArray(shape)) return [populated(shape[0]), populated(shape[0])]
  return Object.fromEntries(Object.entries(shape).map(([name, part]) => [name, populated(part)]))
}

describe('the table of fields', () => {
  const knows = () => {
    const redaction = new Redaction()
    redaction.texts.add(TEXT)
    return redaction
  }

  it.each(Object.entries(eventFields))("hides all that %s says, and leaves what is the engine's own", (type, shape) => {
    const fields = populated(shape as Shape) as { plan?: { policies: { secrets?: unknown }[] } }
    for (const policy of fields.plan?.policies ?? []) delete policy.secrets
    const event = { type, ...fields } as unknown as TaskEvent
    const shown = knows().shown(event)
    expect(JSON.stringify(shown)).not.toContain(TEXT)
    expect(shown.type).toBe(type)
    for (const [name, kind] of Object.entries(shape)) if (kind === 'plain') expect(shown).toHaveProperty(name, 4711)
  })

  it('lets no error or remark be recorded with a secret in it, and every payload as it is', () => {
    const payload = samples.payload as Json
    const closing = {
      type: 'closing',
      cause: 'cancel',
      compensate: true,
      error,
      note: `for ${TEXT}`,
      actor: 'ann',
    } as const
    expect(JSON.stringify(knows().recorded(closing))).not.toContain(TEXT)
    const completed = {
      type: 'stepCompleted',
      id: 1,
      output: payload,
      attempt: 1,
      startedAt: 0,
      endedAt: 0,
      node: null,
    } as const
    expect(knows().recorded(completed)).toBe(completed)
    const resumed = { type: 'resumed' } as const
    expect(knows().recorded(resumed)).toBe(resumed)
  })

  it('hides whole what only a later version knows: a field, and an event', () => {
    const newer = { type: 'stepCancelled', id: 7, why: { because: 'of what nobody knows' } } as unknown as TaskEvent
    expect(knows().shown(newer)).toEqual({ type: 'stepCancelled', id: 7, why: HIDDEN })
    const unknown = { type: 'unheardOf', id: 7, said: ['a', 'b'] } as unknown as TaskEvent
    expect(knows().shown(unknown)).toEqual({ type: 'unheardOf', id: HIDDEN, said: HIDDEN })
    expect(new Redaction().shown(unknown)).toBe(unknown)
  })

  it('never mistakes a type, a state or a number of a step for a secret that reads the same', () => {
    const redaction = knows()
    for (const text of ['stepRequested', '4711', 'closing', 'cancel']) redaction.texts.add(text)
    const event = { type: 'stepRequested', id: 4711, action: 'a.closing', name: 'x', input: 4711, policy: {} } as const
    expect(redaction.shown(event)).toEqual({ ...event, input: HIDDEN })
  })

  it('takes the references of a plan for no secrets, and its literals for some', () => {
    const plan = {
      first: 1,
      groups: [],
      policies: [{ secrets: ['pin'] }],
      output: { pin: { $ref: ['output', 1, 'token'] } },
    }
    const steps = [{ action: 'a.b', policy: 0, input: { pin: ['literal', { $ref: ['output', 1, 'other'] }] } }]
    const { texts } = redactionOf([{ type: 'planned', plan: { ...plan, steps } }])
    expect([...texts]).toEqual(['literal'])
  })

  it('does not compile without a field, or where a payload is called something else', () => {
    type Event = {
      type: 'x'
      id: number
      output?: Json
      error?: ErrorRecord
      of: { name: string; given: Json }[] | null
    }
    const whole: Omit<Fields<Event>, 'type'> = { id: 'plain', output: 'payload', error: 'error', of: [{ name: 'name', given: 'payload' }] } // biome-ignore format: one line
    // @ts-expect-error output is forgotten
    const less: Omit<Fields<Event>, 'type'> = { id: 'plain', error: 'error', of: [{ name: 'name', given: 'payload' }] }
    // @ts-expect-error a payload is not plain
    const payload: Field<Json> = 'plain'
    // @ts-expect-error nor is an error
    const failed: Field<ErrorRecord> = 'plain'
    // @ts-expect-error nor what has a payload inside
    const inside: Field<Event['of']> = 'plain'
    // @ts-expect-error every type of event has a row
    const rows: { [E in TaskEvent as E['type']]: unknown } = { started: {} }
    expect([whole, less, payload, failed, inside, rows]).toHaveLength(6)
  })
})

describe('a veiled value', () => {
  const secrets = redactionOf([
    { type: 'submitted', workflow: 'w', version: '1', input: { pin: TEXT, of: 'ab' }, secrets: ['pin', 'of'] },
  ])

  it('has the value, what may be shown of it, and the secret texts that are in it', () => {
    const value = { pin: 'abc', of: TEXT, text: `my ${TEXT}` }
    const given = veil(value, secrets)
    expect(isVeiled(JSON.stringify(given))).toBe(true)
    expect(unveil(given)).toEqual({ shown: { pin: HIDDEN, of: HIDDEN, text: `my ${HIDDEN}` }, value, texts: [TEXT] })
  })

  it('is no other than the value where nothing is secret, and every value comes back as it was', () => {
    const plain = { a: 1 }
    expect(veil(plain, secrets)).toBe(plain)
    expect(veil(plain, null)).toBe(plain)
    for (const value of [
      null,
      1,
      'a',
      [],
      {},
      { '~veiled': 1 },
      { '~veiled': 1, value: 2, texts: ['x'] },
      { b: 1, '~veiled': null },
    ])
      for (const known of [null, secrets])
        expect(unveil(veil(value, known))).toMatchObject({ value, shown: value, texts: [] })
  })
})
