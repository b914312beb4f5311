import type { Browser, Page } from 'playwright-core'
import { agent, workflow } from 'triarch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, Stage } from './stage.ts'
import { expectUsable } from './usable.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

interface Order {
  amount: number
}

/** A shop whose bank says no until it is told otherwise. */
function shop() {
  const state = { isIll: true, undone: 0 }
  const bank = agent('bank', { circuitBreaker: { minimum: 1_000 } })
  const charge = bank.action('charge', {
    rescue: 'pause',
    retry: { attempts: 1 },
    run: async ({ amount }: Order) => {
      if (state.isIll && amount > 10) throw new Error('the card was declined')
      return { charged: amount }
    },
    undo: async () => {
      state.undone++
    },
  })
  const order = workflow('order', {
    run: async (given: Order, task) => {
      const receipt = await task.run(charge, given)
      await task.waitForSignal('shipped')
      return receipt
    },
  })
  return { state, bank, order, options: { workflows: [order], agents: [bank], operations: true } }
}

describe('the console', () => {
  it('shows why a task waits, and lets it be mended: the step is tried again with another input', async () => {
    const { order, options } = shop()
    await using stage = await Stage.open(options)
    await stage.triarch.submit(order, { amount: 20 }, { id: 'o-1' })
    const page = await stage.window(browser)
    await page.goto(stage.url)
    // On the first page, as what needs a person.
    await page.getByRole('link', { name: 'o-1' }).click()
    await page.getByRole('region', { name: 'Waiting for' }).getByText('the card was declined').waitFor()
    await expectUsable(page)
    await page.getByRole('region', { name: 'Waiting for' }).getByRole('button', { name: 'Retry' }).click()
    await page.getByLabel('Input (JSON)').fill('{ "amount": 5 }')
    await page.getByLabel('Reason').fill('agreed on less')
    await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click()
    await page.getByText('Recorded.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    // Now it waits for something else, and says so.
    await page.getByRole('region', { name: 'Waiting for' }).getByRole('button', { name: 'Send signal' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send signal' }).click()
    await page.getByText('Recorded.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('heading', { name: 'Result' }).waitFor()
    expect(await stage.triarch.tasks.get('o-1').result()).toEqual({ charged: 5 })
    const said = (await stage.triarch.tasks.get('o-1').history()).flatMap(({ events }) => events)
    expect(said).toContainEqual(expect.objectContaining({ reason: 'agreed on less' }))
  })

  it('undoes what succeeded, and shows it', async () => {
    const { state, order, options } = shop()
    await using stage = await Stage.open(options)
    const task = await stage.triarch.submit(order, { amount: 5 }, { id: 'o-1' })
    await task.signal('shipped', null)
    await task.result()
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/tasks/o-1`)
    await page.getByRole('button', { name: 'Compensate' }).click()
    // It destroys something: without a reason it cannot be done.
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Compensate' }).isDisabled()).toBe(true)
    await page.getByLabel('Reason').fill('sent back')
    await page.getByRole('dialog').getByRole('button', { name: 'Compensate' }).click()
    await page.getByText('Recorded.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await page.locator('.steps').getByText('compensated').waitFor()
    await page.locator('.why').getByText('compensated').first().waitFor()
    expect(state.undone).toBe(1)
  })

  it('shows the way back, and where it is stuck: what undoes it is tried again, or a person answers for it', async () => {
    const down = new Set(['ship', 'charge'])
    const act = (name: string) =>
      depot.action(name, {
        ...{ retry: { attempts: 1 }, undoRetry: { attempts: 1 } },
        run: async () => name,
        undo: async () => {
          if (down.has(name)) throw new Error(`nobody answers at ${name}`)
        },
      })
    const depot = agent('depot')
    const [charge, pack, ship] = [act('charge'), act('pack'), act('ship')]
    const parcel = workflow('parcel', {
      async run(_: null, task) {
        await task.run(charge, null)
        await task.run(pack, null)
        await task.run(ship, null)
        return 'sent'
      },
    })
    await using stage = await Stage.open({ workflows: [parcel], agents: [depot] })
    const task = await stage.triarch.submit(parcel, null, { id: 'p-1' })
    await task.result()
    await task.compensate({ reason: 'sent back' })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/tasks/p-1`)
    const way = page.getByRole('region', { name: 'Compensation' })
    await way.getByText('nobody answers at ship').waitFor()
    await expect
      .poll(() => way.getByRole('listitem').allInnerTexts())
      .toEqual([
        expect.stringMatching(/3 ship.*Blocked/s),
        expect.stringMatching(/2 pack.*to compensate/s),
        expect.stringMatching(/1 charge.*to compensate/s),
      ])
    await expectUsable(page)
    down.delete('ship')
    await page.locator('.why').getByRole('button', { name: 'Retry undo' }).click()
    const dialog = page.getByRole('dialog')
    // What it was given does not matter any more, nor what it gave.
    await dialog.getByLabel('Reason').waitFor()
    expect(await dialog.getByRole('textbox').count()).toBe(1)
    await dialog.getByRole('button', { name: 'Retry undo' }).click()
    await page.getByText('Recorded.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await way.getByText('nobody answers at charge').waitFor()
    await way.getByRole('button', { name: 'Mark as undone' }).click()
    await dialog.getByText('Leaves the effects of the step in place').waitFor()
    await dialog.getByLabel('Reason').fill('paid back by hand')
    await dialog.getByRole('button', { name: 'Mark as undone' }).click()
    await page.getByText('Recorded.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('heading', { name: 'Result' }).waitFor()
    await expect
      .poll(() => way.getByRole('listitem').allInnerTexts())
      .toEqual(Array(3).fill(expect.stringContaining('compensated')))
  })

  it('tells the second of two operators, and does nothing twice', async () => {
    const { order, options } = shop()
    await using stage = await Stage.open(options)
    stage.expected = /status of 409/
    await stage.triarch.submit(order, { amount: 5 }, { id: 'o-1' })
    const pages = await Promise.all([stage.window(browser), stage.window(browser)])
    for (const page of pages) {
      await page.goto(`${stage.url}/tasks/o-1`)
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByLabel('Reason').fill('not wanted')
    }
    const [first, second] = pages as [Page, Page]
    await first.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await first.getByText('Recorded.').waitFor()
    await stage.triarch.tasks
      .get('o-1')
      .result()
      .catch(() => undefined)
    await second.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await second.getByRole('dialog').getByText('TASK_STOPPED').waitFor()
    const events = (await stage.triarch.tasks.get('o-1').history()).flatMap(({ events }) => events)
    expect(events.filter(({ type }) => type === 'closing')).toHaveLength(1)
  })

  it('keeps the filter in the address, and moves while one looks', async () => {
    const { order, options } = shop()
    await using stage = await Stage.open(options)
    await stage.triarch.submit(order, { amount: 5 }, { id: 'fine' })
    await stage.triarch.submit(order, { amount: 20 }, { id: 'declined' })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/tasks`)
    await page.getByRole('link', { name: 'fine' }).waitFor()
    await page.getByLabel('Filter').fill('status:paused')
    await page.keyboard.press('Enter')
    await page.waitForURL(/filter=status%3Apaused/)
    await page.getByRole('link', { name: 'fine' }).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('link', { name: 'declined' }).waitFor()
    await stage.triarch.submit(order, { amount: 30 }, { id: 'as well' })
    await page.getByRole('link', { name: 'as well' }).waitFor()
    // Paused, nothing moves; afterwards all is there that came meanwhile.
    await page.getByRole('button', { name: 'Pause updates' }).click()
    await page.getByText('Updates are paused.').waitFor()
    await stage.triarch.submit(order, { amount: 40 }, { id: 'meanwhile' })
    await expect.poll(async () => (await stage.triarch.tasks.count({ filter: 'status:paused' })).count).toBe(3)
    expect(await page.getByRole('link', { name: 'meanwhile' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Resume updates' }).click()
    await page.getByRole('link', { name: 'meanwhile' }).waitFor()
    await page.getByLabel('Filter').fill('status:nonsense')
    await page.keyboard.press('Enter')
    stage.expected = /status of 4/
    await page.getByText('INVALID_FILTER').waitFor()
  })

  it('does one thing to all that fit: counted first, with a reason, and seen to its end', async () => {
    const { order, options } = shop()
    await using stage = await Stage.open(options)
    const all = Array.from({ length: 40 }, (_, n) =>
      stage.triarch.submit(order, { amount: 5 }, { tags: { lot: n < 30 ? 'a' : 'b' } }),
    )
    await Promise.all(all)
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/tasks?filter=tag.lot:a`)
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByRole('dialog').getByText('30 matching tasks.').waitFor()
    await page.getByRole('dialog').getByLabel('Reason').fill('the lot is recalled')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByText('Recorded.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('table').getByText('30 of 30').waitFor()
    await expectUsable(page)
    await expect
      .poll(async () => (await stage.triarch.tasks.count({ filter: 'tag.lot:a outcome:cancelled' })).count)
      .toBe(30)
    expect((await stage.triarch.tasks.count({ filter: 'tag.lot:b status:running' })).count).toBe(10)
  })

  it('can be used by the keyboard alone', async () => {
    const { order, options } = shop()
    await using stage = await Stage.open(options)
    await stage.triarch.submit(order, { amount: 20 }, { id: 'o-1' })
    const page = await stage.window(browser)
    await page.goto(stage.url)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    await page.getByRole('link', { name: 'o-1' }).waitFor()
    await page.keyboard.press('j')
    await page.locator('tr:focus').getByText('o-1').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/tasks\/o-1$/)
    await page.getByRole('tab', { name: 'History' }).waitFor()
    await page.keyboard.press('4')
    await page.waitForURL(/tab=history/)
    await page.getByText('submitted', { exact: true }).first().waitFor()
    await page.goBack()
    await page.getByRole('tab', { name: 'Steps', selected: true }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
  })

  it('opens and closes a circuit breaker, with a reason that is kept', async () => {
    const { options, order } = shop()
    await using stage = await Stage.open(options)
    await stage.triarch.submit(order, { amount: 5 })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/agents`)
    for (const [act, state] of [
      ['Open', 'open'],
      ['Close', 'closed'],
    ] as const) {
      await page.getByRole('button', { name: `${act} breaker` }).click()
      await page.getByLabel('Reason').fill('the bank moves house')
      await page
        .getByRole('dialog')
        .getByRole('button', { name: `${act} breaker` })
        .click()
      await page.getByText('Recorded.').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
      await expect.poll(async () => (await stage.triarch.breakers.get('bank').info()).state).toBe(state)
    }
    const { changes } = await stage.triarch.breakers.get('bank').info()
    expect(changes.map(({ reason }) => reason)).toContain('the bank moves house')
  })

  it('shows what is wrong, and lets one take it in hand, silence it and end it', async () => {
    const { options } = shop()
    const alerts = { every: '100ms', rules: { check: { for: 0 } } } as const
    await using stage = await Stage.open({ ...options, alerts, health: { checks: { bank: () => false } } })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/alerts`)
    await page.getByRole('table').getByText('check:bank').waitFor({ timeout: 20_000 })
    await expectUsable(page)
    const dialog = page.getByRole('dialog')
    for (const act of ['Acknowledge', 'Silence', 'Resolve']) {
      await page.getByRole('table').getByRole('button', { name: act }).click()
      expect(await dialog.getByRole('button', { name: act }).isDisabled()).toBe(true)
      await dialog.getByLabel('Reason').fill('the bank moves house')
      if (act === 'Silence') {
        await dialog.getByLabel('Duration in hours').fill('soon')
        await dialog.getByRole('button', { name: act }).click()
        await dialog.getByText('Enter a number').waitFor()
        await dialog.getByLabel('Duration in hours').fill('8')
      }
      await dialog.getByRole('button', { name: act }).click()
      await page.getByText('Recorded.').waitFor()
      await dialog.getByRole('button', { name: 'Close' }).last().click()
    }
    await page.getByRole('table').getByText('ended').waitFor()
    const { owner, silence, endedBy } = await stage.triarch.alerts.get('check:bank').info()
    expect([owner, silence, endedBy]).toEqual(
      Array(3).fill(expect.objectContaining({ reason: 'the bank moves house' })),
    )
  })

  it('tries the sinks of alerts, and shows what each answered', async () => {
    const { options } = shop()
    const sinks = [{ name: 'pager', send: () => Promise.reject(new Error('no route to the pager')) }]
    await using stage = await Stage.open({ ...options, alerts: { sinks } })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/alerts`)
    await page.getByRole('button', { name: 'Send test notification' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Send test notification' }).click()
    await page.getByText('Recorded.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    const table = page.getByRole('table')
    await table.getByText('no route to the pager').waitFor()
    await table.getByText(/^delivered in \d+ ms$/).waitFor()
    await expectUsable(page)
    expect((await stage.triarch.audit.list({ action: 'alert.test' })).entries).toHaveLength(1)
  })

  it('says that what is seen may be old while nobody answers, and goes on by itself', async () => {
    const { order, options } = shop()
    await using stage = await Stage.open(options)
    stage.expected = /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_INCOMPLETE|status of 503/
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/tasks`)
    await page.getByText('No tasks yet.').waitFor()
    const port = Number(new URL(stage.url).port)
    await stage.silence()
    await page.getByText('The data shown may be old').waitFor()
    await stage.listen(port)
    await stage.triarch.submit(order, { amount: 5 }, { id: 'later' })
    await page.getByRole('link', { name: 'later' }).waitFor()
    await page.getByText('The data shown may be old').waitFor({ state: 'detached' })
  })

  it('asks who one is, where the server wants to know', async () => {
    const { options } = shop()
    await using stage = await Stage.open(options, {
      authenticate: ({ headers }) => (headers.get('authorization') === 'Bearer s3cret' ? { id: 'me' } : null),
    })
    stage.expected = /status of 401/
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/nodes`)
    await page.getByLabel('Token').fill('s3cret')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('table').getByText('scheduler').waitFor()
  })

  it('shows who did what, and of a task what was done to it', async () => {
    const { order, options } = shop()
    await using stage = await Stage.open(options)
    await stage.triarch.submit(order, { amount: 20 }, { id: 'o-1' })
    const schedule = stage.triarch.schedules.get('nightly')
    await stage.triarch.serving.acting({ actor: 'ada' }, async () => {
      await schedule.register({ workflow: order, input: { amount: 1 }, cron: '0 3 * * *' })
      await stage.triarch.tasks.get('o-1').pause({ reason: 'stock-taking' })
    })
    await schedule.pause()
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/audit`)
    await page.getByText('schedule.pause').waitFor()
    await page.getByRole('link', { name: 'ada' }).first().click()
    await page.getByText('schedule.pause').waitFor({ state: 'detached' })
    await page.getByText('schedule.register').waitFor()
    await page.getByRole('link', { name: 'task:o-1' }).click()
    await page.getByRole('tab', { name: 'Audit' }).click()
    await page.getByRole('table').getByText('stock-taking').waitFor()
    await expectUsable(page)
  })

  it('speaks German, and keeps what was chosen', async () => {
    await using stage = await Stage.open(shop().options)
    const page = await stage.window(browser, { locale: 'de-DE' })
    await page.goto(`${stage.url}/tasks`)
    await page.getByText('Es gibt noch keine Aufgabe.').waitFor()
    await page.getByLabel('Sprache').selectOption('en')
    await page.reload()
    await page.getByText('No tasks yet.').waitFor()
  })
})
