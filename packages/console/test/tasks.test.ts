import type { Browser } from 'playwright-core'
import { agent, workflow } from 'triarch'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { launch, Stage } from './stage.ts'
import { expectUsable } from './usable.ts'

const MANY = 1_200

const bank = agent('bank')
const charge = bank.action('charge', {
  rescue: 'pause',
  retry: { attempts: 1 },
  run: async () => {
    throw new Error('the card was declined')
  },
})
const order = workflow('order', { run: (input: { amount: number }, task) => task.run(charge, input) })
/** Waits for ever. */
const shelf = workflow('shelf', { run: (_: null, task) => task.waitForSignal('sold') })

const depot = agent('depot', { concurrency: 1 })
const gate = Promise.withResolvers<void>()
const carry = depot.action('carry', { run: (_: null) => gate.promise })
const parcel = workflow('parcel', { run: (_: null, task) => task.run(carry, null) })

let browser: Browser
let stage: Stage
beforeAll(async () => {
  browser = await launch()
  stage = await Stage.open({ workflows: [order, shelf, parcel], agents: [bank, depot] })
  const { triarch } = stage
  await triarch.submit(order, { amount: 1 }, { id: 'o-1', tags: { city: 'New York' } })
  await triarch.submit(order, { amount: 2 }, { id: 'o-2', tags: { city: 'Ulm' } })
  await vi.waitFor(async () => expect((await triarch.tasks.count({ filter: 'status:paused' })).count).toBe(2), 20_000)
})
afterAll(async () => {
  gate.resolve()
  await stage?.[Symbol.asyncDispose]()
  await browser?.close()
})

interface Seen {
  document: { documentElement: { scrollHeight: number } }
  scrollTo(x: number, y: number): void
}

describe('the page of a task that there is not', () => {
  it('says that there is none, and not that the server does not answer', async () => {
    stage.expected = /status of 404/
    const page = await stage.window(browser)
    // The stream of the task is refused as well: its answer is awaited, for it is what was taken for silence.
    const refused = page.waitForResponse((it) => it.url().endsWith('/tasks/nope/events') && it.status() === 404)
    await page.goto(`${stage.url}/tasks/nope`)
    await refused
    await page.getByText('UNKNOWN_TASK').first().waitFor()
    expect(await page.getByText('The server does not answer').count()).toBe(0)
    await page.context().close()
  })
})

/** An answer with tasks of which every name and reason is as long as they come. */
function wordy(answer: string): string {
  const given = JSON.parse(answer) as { tasks: Record<string, unknown>[] }
  const message = 'the service at https://payments.example.com/v2/charges answered 503 nine times in a row'
  const waits = ['breaker', 'rate-limit'].map((code) => ({ code, of: 'payments-of-the-northern-region', text: code }))
  const tasks = given.tasks.map((task, n) => ({
    ...{ ...task, id: `${n}-${'0123456789'.repeat(8)}`, workflow: 'fulfil-orders-of-the-northern-region' },
    ...{ pause: undefined, error: { code: 'TASK_FAILED', message }, waits },
  }))
  return JSON.stringify({ ...given, tasks })
}

describe('the page of tasks', () => {
  it.each([1024, 1280, 1440, 1920])(
    'shows every column whole, each name in one line, %d pixels wide',
    async (width) => {
      const page = await stage.window(browser, { viewport: { width, height: 800 } })
      await page.route('**/api/v1/tasks?*', async (route) => {
        const body = wordy(await (await route.fetch()).text())
        await route.fulfill({ contentType: 'application/json', body })
      })
      await page.goto(`${stage.url}/tasks`)
      const table = page.getByRole('region', { name: 'Tasks' })
      await table.getByText('nine times in a row').first().waitFor()
      const [right, most, ...lines] = (await table.evaluate(
        "((it) => [it.scrollWidth, it.clientWidth, ...[...it.querySelectorAll('.name')].map((name) => name.getClientRects().length)])(document.querySelector('section.table'))",
      )) as number[]
      expect(right).toBeLessThanOrEqual(most ?? 0)
      expect(new Set(lines)).toEqual(new Set([1]))
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.context().close()
    },
  )

  it('leaves out the tasks by which the engine acts on many, unless they are asked for by name', async () => {
    const page = await stage.window(browser)
    const asked = page.waitForRequest('**/api/v1/tasks?*')
    await page.goto(`${stage.url}/tasks?filter=status:stopped`)
    expect(new URL((await asked).url()).searchParams.get('filter')).toBe(
      'status:stopped -workflow:"triarch-operation"*',
    )
    const named = page.waitForRequest('**/api/v1/tasks?*')
    await page.goto(`${stage.url}/tasks?filter=workflow:triarch-operation*`)
    expect(new URL((await named).url()).searchParams.get('filter')).toBe('workflow:triarch-operation*')
    await page.context().close()
  })

  it('says in the palette that nothing is called so', async () => {
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/tasks`)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('flaky')
    await page.getByRole('status').getByText('Nothing has “flaky” in its name').waitFor()
    await expectUsable(page)
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('o-1')
    await page.getByRole('option', { name: 'o-1' }).waitFor()
    expect(await page.getByText('in its name').count()).toBe(0)
    await page.context().close()
  })

  it('is used by keyboard alone: from anywhere to a filter that completes itself, to a task, to what can be done', async () => {
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/nodes`)
    await page.locator('main table').first().waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or run a command' }).waitFor()
    await expectUsable(page)
    await page.keyboard.type('tasks')
    await page.getByRole('option', { name: 'Tasks Page' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/tasks$/)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'o-2' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('stat')
    await page.getByRole('option', { name: 'status:' }).waitFor()
    await expectUsable(page)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.keyboard.type('pau')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.keyboard.type(' tag.city:new')
    await page.getByRole('option', { name: 'tag.city:"New York"' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Tab')
    expect(await page.getByLabel('Filter').inputValue()).toBe('status:paused tag.city:"New York"')
    // Nothing is chosen: Enter is the form's.
    await page.keyboard.press('Enter')
    await page.waitForURL(/filter=status%3Apaused\+tag.city/)
    await page.getByRole('link', { name: 'o-2' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'o-1' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.locator('tr:focus').getByText('o-1').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/tasks\/o-1$/)
    await page.locator('.why').getByText('the card was declined').waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('cancel')
    await page.getByRole('option', { name: 'Cancel Action' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByLabel('Reason').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    // A task by the beginning of its id.
    await page.keyboard.press('Control+k')
    await page.keyboard.type('o-2')
    await page.getByRole('option', { name: 'o-2 Task' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/tasks\/o-2$/)
    await page.goBack()
    await page.waitForURL(/\/tasks\/o-1$/)
  })

  it('counts by state, and shows the columns that the address names', async () => {
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/tasks?columns=status,tags,constructor,nonsense`)
    const heads = page.getByRole('columnheader')
    await page.getByText('city: New York').waitFor()
    await expect.poll(() => heads.allInnerTexts()).toEqual(['Task', 'Status', 'Tags'])
    await page.getByRole('button', { name: 'paused 2' }).waitFor()
    await page.getByRole('button', { name: 'running 0' }).waitFor()
    await page.getByText('Columns', { exact: true }).first().click()
    await page.getByLabel('Version').check()
    await expect.poll(() => heads.allInnerTexts()).toEqual(['Task', 'Version', 'Status', 'Tags'])
    await expectUsable(page)
    await page.reload()
    await page.getByText('city: New York').waitFor()
    await expect.poll(() => heads.allInnerTexts()).toEqual(['Task', 'Version', 'Status', 'Tags'])
  })

  it('says of each what it waits for, and of what it waits for next, though no task says a word then', async () => {
    for (const id of ['p-1', 'p-2']) await stage.triarch.submit(parcel, null, { id })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/tasks?filter=workflow:parcel`)
    const row = page.getByRole('row', { name: 'p-2' })
    const wait = row.locator('.wait')
    await row.getByText('free slot: depot.carry').waitFor()
    // Of what goes on, nothing is said.
    expect(await page.locator('.wait').count()).toBe(1)
    await stage.triarch.settings.get('triarch.agent.depot').set({ paused: 'stock-taking' }, { reason: 'each year' })
    await row.getByText('paused agent: depot').waitFor()
    expect(await wait.getAttribute('title')).toContain('stock-taking')
    expect(await row.getByText('stock-taking').first().isVisible()).toBe(true)
    await expectUsable(page)
    await row.getByRole('link', { name: 'p-2' }).click()
    await page.locator('.why').getByText('stock-taking').waitFor()
    await page.goBack()
    await stage.triarch.settings.get('triarch.agent.depot').clear({ reason: 'all is counted' })
    await row.getByText('free slot: depot.carry').waitFor()
    gate.resolve()
    await row.getByText('success').waitFor()
    expect(await wait.count()).toBe(0)
  })

  it('keeps views under a name, in each window of the browser', async () => {
    const page = await stage.window(browser)
    const other = await page.context().newPage()
    await other.goto(`${stage.url}/tasks`)
    await page.goto(`${stage.url}/tasks?filter=tag.city%3AUlm&columns=tags`)
    await page.getByLabel('Name of this view').fill('Down in Ulm')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Delete view “Down in Ulm”' }).waitFor()
    await expectUsable(page)
    await other.getByRole('link', { name: 'Down in Ulm' }).click()
    await other.waitForURL(/filter=tag.city%3AUlm&columns=tags$/)
    await other.getByRole('link', { name: 'o-1' }).waitFor({ state: 'detached' })
    await page.goto(`${stage.url}/agents`)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('ulm')
    await page.getByRole('option', { name: 'Down in Ulm View' }).click()
    await page.waitForURL(/columns=tags$/)
    await page.getByRole('button', { name: 'Delete view “Down in Ulm”' }).click()
    await other.getByRole('link', { name: 'Down in Ulm' }).waitFor({ state: 'detached' })
  })

  it('holds the rows that are seen of all that were read, and has no hole when others come in before them', async () => {
    const lot = (of: string, count: number) =>
      stage.triarch.submitMany(
        shelf,
        Array.from({ length: count }, (_, n) => ({ input: null, id: `${of}-${n}`, tags: { lot: 'l' } })),
      )
    for (let n = 0; n < MANY; n += 400) await lot(`first${n}`, 400)
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/tasks?filter=tag.lot:l&columns=none`)
    await page.getByRole('link', { name: 'first800-' }).first().waitFor()
    const rows = page.locator('tr[data-row]')
    await page.getByRole('button', { name: 'More' }).click()
    await expect.poll(() => rows.count()).toBeGreaterThan(20)
    await page.locator('table[aria-rowcount="551"]').waitFor()
    await expect.poll(() => rows.count()).toBeLessThan(120)
    await lot('second', 60)
    await page.locator('table[aria-rowcount="611"]').waitFor()
    // The rest is read as one gets there.
    const end = page.locator(`tr[aria-rowindex="${MANY + 60 + 1}"]`)
    await expect
      .poll(
        async () => {
          await page.evaluate(() => {
            const { document, scrollTo } = globalThis as unknown as Seen
            scrollTo(0, document.documentElement.scrollHeight)
          })
          return end.count()
        },
        { timeout: 30_000 },
      )
      .toBe(1)
    await page.locator(`table[aria-rowcount="${MANY + 60 + 1}"]`).waitFor()
    await page.getByRole('button', { name: 'More' }).waitFor({ state: 'detached' })
    await expect.poll(() => rows.count()).toBeLessThan(120)
    await expectUsable(page)
  })

  it('speaks German in all of it', async () => {
    const page = await stage.window(browser, { locale: 'de-DE' })
    await page.goto(`${stage.url}/tasks?filter=tag.city:Ulm`)
    await page.getByRole('link', { name: 'o-2' }).waitFor()
    await page.getByText('Spalten').first().click()
    await page.getByLabel('Merkmale').check()
    await page.getByRole('button', { name: 'Ansicht bewahren' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Gehen oder tun' }).fill('alarme')
    await page.getByRole('option', { name: 'Alarme Seite' }).waitFor()
    // What the server says, too: what is found of its parts, and its errors, with its own words after them.
    await page.goto(stage.url)
    await page.getByRole('region', { name: 'Prüfungen' }).getByText('gibt es nicht').first().waitFor()
    stage.expected = /status of 40[04]/
    await page.goto(`${stage.url}/tasks?filter=colour:red`)
    await page.getByText('Ein Filter lässt sich nicht lesen').first().waitFor()
    await page.locator('.failure [lang=en]').first().waitFor()
    await expectUsable(page)
  })

  it('says how far the copy of the store is behind that answers it, where there is one', async () => {
    const page = await stage.window(browser)
    let checks: object[] = []
    await page.route('**/health?report=true&check=replica', (route) => route.fulfill({ json: { checks } }))
    await page.goto(`${stage.url}/tasks?filter=tag.city:Ulm`)
    await page.getByRole('link', { name: 'o-2' }).waitFor()
    expect(await page.getByText('Read from a replica').count()).toBe(0)
    checks = [{ name: 'replica', status: 'ok', code: 'replica-behind', details: { ms: 140 } }]
    await page.reload()
    await page.getByText('Read from a replica that is 140 ms behind.').waitFor()
  })
})
