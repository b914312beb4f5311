import type { Browser } from 'playwright-core'
import { agent, type StandardSchema, setting, type Workflow, workflow } from 'triarch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { differences } from '../src/part/difference.ts'
import { launch, Stage } from './stage.ts'
import { expectUsable } from './usable.ts'

interface Limits {
  amount: number
  note?: string
}

const schema: StandardSchema<Limits, Limits> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      (value as Limits).amount < 0 ? { issues: [{ message: 'must not be negative' }] } : { value: value as Limits },
  },
}

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

const NAME = 'payments.limits'

function bank() {
  const agents = [agent('bank')]
  return {
    ...{ agents, workflows: [workflow('order', { run: async () => null })] },
    ...{ settings: [setting(NAME, schema, { amount: 10_000 })] },
  }
}

describe('the page of settings', () => {
  it('says what counts and where it comes from; a value that is no good is refused, and a good one counts everywhere', async () => {
    await using stage = await Stage.open(bank())
    stage.expected = /status of 4/
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/settings`)
    await page.getByRole('table').getByRole('link', { name: NAME }).click()
    await page.getByRole('region', { name: 'Effective value' }).getByText('10000').waitFor()
    await page.getByRole('region', { name: 'Effective value' }).getByText('code').waitFor()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Value (JSON)').fill('{ "amount": -1 }')
    await dialog.getByLabel('Reason').fill('an audit')
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.getByText('must not be negative').waitFor()
    await dialog.getByLabel('Value (JSON)').fill('{ "amount": 500 }')
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.getByText('Recorded.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('region', { name: 'Versions' }).getByText('an audit').waitFor()
    const counts = page.getByRole('region', { name: 'Effective value' })
    await counts.getByRole('cell', { name: 'store', exact: true }).waitFor()
    // What the code says stands beside it.
    await counts.getByRole('cell', { name: '10000', exact: true }).waitFor()
    expect(await counts.getByRole('cell', { name: '500', exact: true }).count()).toBe(2)
    await page.getByRole('region', { name: 'Nodes' }).getByText('ok').waitFor()
    await expectUsable(page)
  })

  it('shows what is on trial, lets it go on or takes it back; versions stand side by side, and a former one counts again', async () => {
    await using stage = await Stage.open(bank())
    const handle = stage.triarch.settings.get<Limits>(NAME)
    await handle.set({ amount: 500 }, { reason: 'first' })
    await handle.set({ amount: 500, note: 'an audit' }, { reason: 'second' })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/settings/${NAME}`)
    await page.getByRole('region', { name: 'Difference' }).getByText('note').waitFor()
    await page.getByRole('button', { name: 'Start canary' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Value (JSON)').fill('{ "amount": 700 }')
    await dialog.getByLabel('Rollout stages (JSON)').fill('[{ "share": 1 }]')
    await dialog.getByLabel('Reason').fill('more')
    await dialog.getByRole('button', { name: 'Start canary' }).click()
    await dialog.getByText('Recorded.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    const trial = page.getByRole('region', { name: 'Canary' })
    await trial.getByText('Stage 1 of 1').waitFor()
    await expectUsable(page)
    await trial.getByRole('button', { name: 'Roll back' }).click()
    await dialog.getByLabel('Reason').fill('too much')
    await dialog.getByRole('button', { name: 'Roll back' }).click()
    await dialog.getByText('Recorded.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await trial.waitFor({ state: 'detached' })
    // What is compared is said by the address.
    await page.getByLabel('From version').selectOption('1')
    await page.getByLabel('to version').selectOption('2')
    await page.waitForURL(/from=1.*to=2/)
    await page.getByRole('button', { name: 'Back to version 1' }).click()
    // Somebody is quicker: nothing of theirs is overwritten.
    await handle.change({ note: 'mine' }, { reason: 'quicker' })
    stage.expected = /status of 409/
    await dialog.getByLabel('Reason').fill('as it was')
    await dialog.getByRole('button', { name: 'Back to version 1' }).click()
    await dialog.getByText('SETTING_CHANGED').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByText('quicker').first().waitFor()
    await page.getByRole('button', { name: 'Back to version 1' }).click()
    await dialog.getByLabel('Reason').fill('as it was')
    await dialog.getByRole('button', { name: 'Back to version 1' }).click()
    await dialog.getByText('Recorded.').waitFor()
    expect((await handle.info()).live?.value).toEqual({ amount: 500 })
  })

  it('shows on the pages of agents, schedules and tasks who paused them by a setting, and leads there', async () => {
    const options = bank()
    options.agents[0]?.action('charge', { run: async () => null })
    await using stage = await Stage.open(options)
    const why = { reason: 'incident 12', actor: 'ada' }
    await stage.triarch.settings.get('triarch.agent.bank').set({ paused: 'the bank is down' }, why)
    await stage.triarch.settings.get('triarch.workflow.order').set({ paused: 'stocktaking' }, why)
    await stage.triarch.settings.get('triarch.schedules').set({ paused: { nightly: 'the books are closed' } }, why)
    const [order] = options.workflows
    await stage.triarch.submit(order as Workflow<null, null>, null, { id: 'o-1' })
    await stage.triarch.schedules.get('nightly').register({ workflow: order as Workflow, input: null, every: '1d' })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/agents/bank`)
    await page.getByRole('status').getByText('the bank is down · ada').waitFor()
    await page.goto(`${stage.url}/schedules/nightly`)
    await page.getByRole('status').getByText('the books are closed · ada').waitFor()
    await page.goto(`${stage.url}/tasks`)
    await page.getByText('order: stocktaking (ada)').waitFor()
    await page.goto(`${stage.url}/agents/bank`)
    await page.getByRole('status').getByRole('link').click()
    await page.getByRole('region', { name: 'Effective value' }).getByText('the bank is down').first().waitFor()
  })

  it('says which right is missing, and offers nothing that it needs', async () => {
    await using stage = await Stage.open(bank(), {
      authenticate: () => ({ id: 'reader', rights: ['read', 'settings:read'] }),
    })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/settings/${NAME}`)
    await page.getByText('needs the right settings:write').waitFor()
    expect(await page.getByRole('button', { name: 'Change', exact: true }).isDisabled()).toBe(true)
    await expectUsable(page)
  })

  it('tells apart what is other, property by property', () => {
    const before = { amount: 1, list: [1, { a: 1 }], gone: true, deep: { same: 1, other: 1 } }
    const after = { amount: 2, list: [1, { a: 1 }], deep: { same: 1, other: null }, added: 0 }
    expect(differences(before, after)).toEqual([
      { path: 'added', before: undefined, after: 0 },
      { path: 'amount', before: 1, after: 2 },
      { path: 'deep.other', before: 1, after: null },
      { path: 'gone', before: true, after: undefined },
    ])
    expect(differences([1, 2], [2, 1])).toEqual([{ path: '', before: [1, 2], after: [2, 1] }])
    expect(differences(10n ** 20n, 10n ** 20n)).toEqual([])
  })
})
