import type { Browser, Page } from 'playwright-core'
import { agent, type ReasonCode, workflow } from 'triarch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { beginningOf, pathOf, shapeOf } from '../src/part/shape.ts'
import { why } from '../src/text/task/why.ts'
import { launch, Stage } from './stage.ts'
import { expectUsable } from './usable.ts'

const bank = agent('bank', { circuitBreaker: { minimum: 1_000 } })
const charge = bank.action('charge', {
  rescue: 'pause',
  retry: { attempts: 1 },
  hints: ['ask the bank'],
  run: async ({ amount }: { amount: number; to: { name: string } }, step) => {
    step.log.info('charging')
    if (amount > 10) throw new Error('the card was declined')
    return { charged: amount }
  },
})
const schema = z.object({
  customer: z.string().min(3),
  amount: z.number().int().max(100),
  express: z.boolean().optional(),
  speed: z.enum(['slow', 'fast']).optional(),
  items: z.array(z.object({ name: z.string().min(1) })).optional(),
})
const order = workflow('order', {
  input: schema,
  signals: { shipped: z.object({ parcel: z.string().min(2) }) },
  run: async ({ amount, customer }, task) => {
    const receipt = await task.run(charge, { amount, to: { name: customer } })
    const { parcel } = (await task.waitForSignal('shipped')) as { parcel: string }
    return { ...receipt, parcel }
  },
})
const kid = workflow('kid', { run: async (n: number) => n })
const crowd = workflow('crowd', {
  async run(_: null, task) {
    await task.batch('kids', { workflow: kid, items: Array.from({ length: 120 }, (_, n) => n) })
    for (let n = 0; n < 1_005; n++) await task.run(`step ${n}`, () => n)
    await task.waitForSignal('never')
  },
})

let browser: Browser
let stage: Stage
const traceUrl = 'https://traces.example.com/trace/{traceId}'
beforeAll(async () => {
  browser = await launch()
  stage = await Stage.open({ workflows: [order, kid, crowd], agents: [bank] }, { traceUrl })
  // Refusals are what some of these are about.
  stage.expected = /status of 4/
})
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]()
  await browser?.close()
})

/** An order that the bank has declined. */
async function declined(id: string, metadata: Record<string, string> = {}) {
  const task = await stage.triarch.submit(order, { customer: 'ada', amount: 20 }, { id, metadata })
  await expect.poll(async () => (await task.status()).status).toBe('paused')
  return task
}

async function opened(path: string): Promise<Page> {
  const page = await stage.window(browser)
  await page.goto(stage.url + path)
  return page
}

describe('starting a task', () => {
  it('takes fields made from the schema of the workflow, and says at each what is wrong with it', async () => {
    const page = await opened('/workflows/order')
    await page.getByRole('link', { name: 'Start a task' }).click()
    await page.getByLabel('customer').fill('ad')
    await page.getByLabel('amount').fill('a lot')
    await page.getByLabel('speed').selectOption('fast')
    await page.getByRole('group', { name: 'items' }).getByRole('button', { name: 'Add' }).click()
    await page.getByRole('button', { name: 'Start task' }).click()
    for (const field of ['customer', 'amount', 'name']) {
      const input = page.getByLabel(field, { exact: true })
      await expect.poll(() => input.getAttribute('aria-invalid')).toBe('true')
    }
    await expectUsable(page)
    await page.getByLabel('customer').fill('ada')
    await page.getByLabel('amount').fill('7')
    await page.getByLabel('name', { exact: true }).fill('a book')
    await page.getByLabel('Id', { exact: true }).fill('started-1')
    await page.getByLabel('Priority').fill('5')
    await page.getByLabel('Tags').fill('customer=42\nlot=a=b')
    await page.getByLabel('Start at').fill('tomorrow')
    await page.getByRole('button', { name: 'Start task' }).click()
    await expect.poll(() => page.getByLabel('Start at').getAttribute('aria-invalid')).toBe('true')
    await page.getByLabel('Start at').fill('1s')
    await page.getByRole('button', { name: 'Start task' }).click()
    await page.waitForURL(/tasks\/started-1$/)
    const { priority, tags } = await stage.triarch.tasks.get('started-1').status()
    expect([priority, tags]).toEqual([5, { customer: '42', lot: 'a=b' }])
    const [record] = await stage.triarch.tasks.get('started-1').history()
    expect(record?.events[0]).toMatchObject({
      input: { customer: 'ada', amount: 7, speed: 'fast', items: [{ name: 'a book' }] },
    })
    // Another like it: what it was given is filled in, and an id that is there is refused.
    await page.getByRole('link', { name: 'Run again with changes' }).click()
    await page.getByRole('heading', { name: 'Start a task like started-1' }).waitFor()
    expect(await page.getByLabel('customer').inputValue()).toBe('ada')
    expect(await page.getByLabel('Tags').inputValue()).toBe('customer=42\nlot=a=b')
    await page.getByRole('button', { name: 'Edit as JSON' }).click()
    await page.getByLabel('Input (JSON)').fill('{ "customer": "eve", "amount": 8 }')
    await page.getByLabel('Id', { exact: true }).fill('started-1')
    await page.getByRole('button', { name: 'Start task' }).click()
    await page.getByText('TASK_EXISTS').waitFor()
    await page.getByLabel('Id', { exact: true }).fill('started-2')
    await page.getByLabel('Require approval').check()
    await page.getByRole('button', { name: 'Start task' }).click()
    await page.waitForURL(/tasks\/started-2$/)
    await page.locator('.why').getByRole('button', { name: 'Approve' }).waitFor()
    expect((await stage.triarch.tasks.get('started-2').status()).priority).toBe(5)
  })

  it('makes of a schema what a person fills in, and leaves the rest to JSON', () => {
    const root = {
      type: 'object',
      properties: {
        when: { type: 'string', format: 'date' },
        maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
        tree: { $ref: '#/$defs/tree' },
        free: {},
        either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
        fixed: { const: 3 },
      },
      required: ['fixed', 'maybe'],
      $defs: { tree: { type: 'object', properties: { left: { $ref: '#/$defs/tree' } } } },
    }
    const shape = shapeOf(root, root, 'input')
    const kinds = (shape.kind === 'object' ? shape.fields : []).map(({ name, schema }) => shapeOf(schema, root, name))
    expect(kinds.map(({ kind, isOptional }) => [kind, isOptional])).toEqual([
      ['text', false],
      ['number', true],
      ['object', false],
      ['json', false],
      ['json', false],
      ['choice', false],
    ])
    expect(beginningOf(root, root)).toEqual({ fixed: 3, maybe: null })
    expect(shapeOf({ $ref: '#/$defs/nowhere' }, root, 'x').kind).toBe('json')
    // What speaks of itself has an end.
    expect(shapeOf(root.$defs.tree, root, 'x', 6).kind).toBe('json')
    expect(pathOf(pathOf(pathOf('', 'items'), 3), 'a b')).toBe('items[3]["a b"]')
  })
})

describe('acting on a task', () => {
  it('shows what is changed in an input, and what came of it', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    await declined('mended', { traceparent })
    const page = await opened('/tasks/mended')
    const trace = page.getByRole('link', { name: 'Open trace' })
    expect(await trace.getAttribute('href')).toBe(traceUrl.replace('{traceId}', '4bf92f3577b34da6a3ce929d0e0e4736'))
    const wait = page.getByRole('region', { name: 'Waiting for' })
    await wait.getByText('Paused: a step failed, step 1 (charge): the card was declined').waitFor()
    await wait.getByText('An operator with the right “control” resumes it.').waitFor()
    await wait.getByRole('button', { name: 'Retry' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Input (JSON)').fill('{ "amount": 5, "to": { "name": "ada" } }')
    const changes = dialog.getByRole('region', { name: 'Changed' })
    await expect.poll(() => changes.getByRole('listitem').allInnerTexts()).toEqual(['amount 20 5'])
    await expectUsable(page)
    await dialog.getByRole('button', { name: 'Retry' }).click()
    await dialog.getByText(/Done: record \d+ of the history/).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    // What it waits for now, and a signal whose value has fields of its own.
    await wait.getByText('Waiting for signal “shipped”').waitFor()
    await wait.getByRole('button', { name: 'Send signal' }).click()
    await dialog.getByLabel('parcel').fill('p')
    await dialog.getByRole('button', { name: 'Send signal' }).click()
    await expect.poll(() => dialog.getByLabel('parcel').getAttribute('aria-invalid')).toBe('true')
    await dialog.getByLabel('parcel').fill('p-7')
    await dialog.getByRole('button', { name: 'Send signal' }).click()
    await dialog.getByText('Recorded.').waitFor()
    expect(await stage.triarch.tasks.get('mended').result()).toEqual({ charged: 5, parcel: 'p-7' })
  })

  it('tells the second of two operators who try again at once, and tries once', async () => {
    const task = await declined('twice')
    const pages = await Promise.all([opened('/tasks/twice'), opened('/tasks/twice')])
    for (const page of pages) {
      await page.locator('.why').getByRole('button', { name: 'Retry' }).click()
      await page.getByLabel('Input (JSON)').fill('{ "amount": 5, "to": { "name": "ada" } }')
    }
    await Promise.all(pages.map((page) => page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click()))
    const told = pages.map((page) =>
      page
        .getByRole('dialog')
        .getByText(/Done: record|No effect|in the meantime/)
        .first()
        .innerText(),
    )
    const said = (await Promise.all(told)).sort()
    expect(said[0]).toContain('Done: record')
    expect(said[1]).toMatch(/No effect|in the meantime/)
    const events = (await task.history()).flatMap(({ events }) => events)
    expect(events.filter(({ type }) => type === 'stepRetried')).toHaveLength(1)
    await Promise.all(pages.map((page) => page.close()))
  })

  it('cannot be done without the right, and says which', async () => {
    await declined('looked-at')
    await using other = await Stage.open(
      { workflows: [order], agents: [bank] },
      { authenticate: () => ({ id: 'reader', rights: ['read'] }) },
    )
    const task = await other.triarch.submit(order, { customer: 'ada', amount: 20 }, { id: 'looked-at' })
    await expect.poll(async () => (await task.status()).status).toBe('paused')
    const page = await other.window(browser)
    await page.goto(`${other.url}/tasks/looked-at`)
    await page.getByText('Acting on the task needs the right control, which you do not have.').waitFor()
    const button = page.locator('.why').getByRole('button', { name: 'Retry' })
    expect([await button.isDisabled(), await button.getAttribute('title')]).toEqual([
      true,
      'This needs the right control.',
    ])
    await page.goto(`${other.url}/start?workflow=order`)
    await page.getByText('This needs the right start.').waitFor()
    expect(await page.getByRole('button', { name: 'Start task' }).isDisabled()).toBe(true)
    await expectUsable(page)
  })
})

describe('the page of a task', () => {
  it('ends nowhere without a word: records, children and logs are there to the last', async () => {
    const task = await stage.triarch.submit(crowd, null, { id: 'crowd-1' })
    await expect.poll(async () => (await task.explain()).reasons[0]?.code, { timeout: 60_000 }).toBe('signal')
    const records = (await task.history()).length
    expect(records).toBeGreaterThan(1_000)
    const page = await opened('/tasks/crowd-1?tab=history')
    await page.getByText(`All ${records.toLocaleString('en')} records`).waitFor()
    await page.goto(`${stage.url}/tasks/crowd-1?record=${records}`)
    await page
      .getByRole('region', { name: `Record ${records}`, exact: true })
      .getByText('waitStarted')
      .waitFor()
    await page.getByRole('button', { name: 'View the task at this record' }).click()
    await page.waitForURL(new RegExp(`at=${records}$`))
    await page.goto(`${stage.url}/tasks/crowd-1?step=1`)
    const batch = page.getByRole('region', { name: 'Children of the batch' })
    await batch.getByText('120 of 120').waitFor()
    await batch.getByRole('button', { name: 'Children' }).click()
    const table = page.getByRole('region', { name: 'Children', exact: true })
    await expect.poll(() => table.locator('tbody tr').count()).toBe(100)
    await page.getByRole('button', { name: 'Next page' }).click()
    await expectUsable(page)
    await expect.poll(() => table.locator('tbody tr').count()).toBe(20)
    await page.getByRole('button', { name: 'error', exact: true }).click()
    await page.getByText('No matches.').waitFor()
  })

  it('shows of a step each attempt with its error, what may help, and what it logged', async () => {
    const task = await declined('tried')
    await task.retry()
    await expect.poll(async () => (await task.steps())[0]?.attempts).toBe(2)
    const page = await opened('/tasks/tried?step=1')
    const attempts = page.getByRole('region', { name: 'Attempts' })
    await expect.poll(() => attempts.locator('tbody tr').count()).toBe(2)
    await attempts.getByText('the card was declined').first().waitFor()
    await page.getByText('ask the bank').waitFor()
    await page.locator('.detail').getByText('Logs').click()
    await page.getByRole('region', { name: 'Logs' }).getByText('charging').first().waitFor()
    await expectUsable(page)
    // All of it on paper.
    await page.getByRole('tab', { name: 'Report' }).click()
    const report = page.getByRole('article', { name: 'Report' })
    await expect.poll(() => report.getByRole('list', { name: 'Attempts' }).getByRole('listitem').count()).toBe(2)
    await report.getByText('"amount": 20').first().waitFor()
    await expectUsable(page)
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByRole('navigation').isVisible()).toBe(false)
    expect(await report.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
    expect((await page.pdf()).subarray(0, 5).toString()).toBe('%PDF-')
  })
})

it('has words for each reason to wait, in both languages', () => {
  const codes: Record<ReasonCode, true> = {
    ...({ stopped: true, paused: true, quarantined: true, held: true, scheduled: true, frozen: true } as const),
    ...({
      predecessor: true,
      lock: true,
      queued: true,
      'queue-full': true,
      'no-scheduler': true,
      'node-lost': true,
    } as const),
    ...({ planning: true, step: true, 'step-queued': true, breaker: true, 'rate-limit': true } as const),
    ...({ concurrency: true, 'agent-paused': true, 'workflow-paused': true, 'no-agent': true } as const),
    ...({
      retry: true,
      suspended: true,
      batch: true,
      timer: true,
      signal: true,
      child: true,
      stalled: true,
      moving: true,
    } as const),
  }
  for (const { reasons } of [why.en, why.de]) {
    expect(Object.keys(reasons).sort()).toEqual(Object.keys(codes).sort())
    for (const [code, { says, ends }] of Object.entries(reasons)) {
      expect(says({ step: '1 (charge)' })).not.toBe('')
      // What is over, and what moves, nobody has to end.
      expect(ends === null).toBe(code === 'stopped' || code === 'moving')
    }
  }
})
