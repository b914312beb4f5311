import type { Browser, Page } from 'playwright-core'
import { agent, workflow } from 'triarch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, Stage } from './stage.ts'
import { expectUsable } from './usable.ts'

const MANY = 10_000

const shelf = workflow('shelf', { run: (_: null, task) => task.waitForSignal('sold') })
const depot = agent('depot')
const build = depot.action('build', { run: async (part: string) => `${part} built` })
const house = workflow('house', {
  plan({ walls }: { walls: number }, plan) {
    const all = Array.from({ length: walls }, (_, n) => plan.step(build, `wall ${n}`, { name: `wall ${n}` }))
    plan.step(build, 'roof', { name: 'roof', after: all })
  },
})

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

/** Fills in why, does it, and closes what says that it is done. */
async function done(page: Page, act: string, reason: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill(reason)
  await dialog.getByRole('button', { name: act, exact: true }).click()
  await page.getByText('Recorded.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
}

describe('in the console one', () => {
  it('keeps one’s place where a session ends: what was typed, what was open', async () => {
    const known = ['monday', 'tuesday']
    let token = 'monday'
    await using stage = await Stage.open(
      { workflows: [shelf] },
      {
        // What is read goes on with the token of before: the session is to end under what is done, not under a look a moment before.
        authenticate: ({ headers, method }) =>
          (method === 'GET' ? known : [token]).includes(headers.get('authorization')?.replace('Bearer ', '') ?? '')
            ? { id: 'ada', rights: ['read', 'control'] }
            : null,
      },
    )
    stage.expected = /status of 401/
    await stage.triarch.submit(shelf, null, { id: 's-1' })
    const page = await stage.window(browser)
    const enter = async (said: string) => {
      await page.getByLabel('Token').fill(said)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    await page.goto(`${stage.url}/tasks/s-1?tab=history`)
    await enter('sunday')
    await page.getByText('Invalid token.').waitFor()
    await expectUsable(page)
    // The door does not open by Escape.
    await page.keyboard.press('Escape')
    await enter('monday')
    await page.getByText('Sign-in required').waitFor({ state: 'detached' })
    await page.getByText('submitted', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByLabel('Reason').fill('nobody buys it')
    token = 'tuesday'
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Sign-in required').waitFor()
    await enter('tuesday')
    await page.getByText('Sign-in required').waitFor({ state: 'detached' })
    expect(await page.getByLabel('Reason').inputValue()).toBe('nobody buys it')
    expect(page.url()).toContain('tab=history')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Recorded.').waitFor()
    const said = (await stage.triarch.tasks.get('s-1').history()).flatMap(({ events }) => events)
    expect(said).toContainEqual(expect.objectContaining({ reason: 'nobody buys it' }))
  })

  it('reads a plan before anything of it is done, and lets it begin', async () => {
    await using stage = await Stage.open({ workflows: [house], agents: [depot] })
    await stage.triarch.submit(house, { walls: 2 }, { id: 'h-1', frozen: true })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/tasks`)
    await page.getByRole('button', { name: 'planned 1' }).waitFor()
    await page.goto(`${stage.url}/tasks/h-1`)
    await page.locator('.why').getByText('Awaiting approval (plan: 3 steps)').waitFor()
    await page.getByRole('link', { name: 'View plan' }).click()
    const list = page.getByRole('table').last()
    await list.getByRole('button', { name: 'wall 1' }).click()
    const chosen = page.getByLabel('Selection')
    await chosen.getByText('Planned, not requested yet.').waitFor()
    await chosen.getByText('"wall 1"').waitFor()
    await chosen.getByText('compensate the task').waitFor()
    await list.getByRole('button', { name: 'roof' }).click()
    await chosen.getByText('1, 2').waitFor()
    await expectUsable(page)
    expect((await stage.triarch.tasks.get('h-1').steps()).map(({ status }) => status)).toEqual([
      'waiting',
      'waiting',
      'waiting',
    ])
    await page.locator('.why').getByRole('button', { name: 'Approve' }).click()
    await done(page, 'Approve', 'the plan is approved')
    await page.getByRole('heading', { name: 'Result' }).waitFor()
    await page.getByRole('tab', { name: 'Steps' }).click()
    await page.locator('.steps').getByText('roof').first().waitFor()
    const said = (await stage.triarch.tasks.get('h-1').history()).flatMap(({ events }) => events)
    expect(said.filter(({ type }) => type === 'stepCompleted')).toHaveLength(3)
  })

  it(`cancels ${MANY.toLocaleString('en')} tasks at once: counted first, and seen to its end by two people`, async () => {
    await using stage = await Stage.open({ workflows: [shelf], operations: true })
    for (let n = 0; n < MANY; n += 1_000) {
      const some = Array.from({ length: 1_000 }, (_, m) => {
        return { input: null, id: `s-${n + m}`, frozen: true, tags: { lot: 'a' } }
      })
      await stage.triarch.submitMany(shelf, some)
    }
    const [page, other] = await Promise.all([stage.window(browser), stage.window(browser)])
    await other.goto(`${stage.url}/operations`)
    await other.getByText('No bulk operations yet.').waitFor()
    await page.goto(`${stage.url}/tasks?filter=tag.lot:a`)
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    // Nothing is done yet: it says to how many it would be done.
    await page.getByRole('dialog').getByText(`${MANY} matching tasks.`).waitFor()
    expect((await stage.triarch.tasks.count({ filter: 'status:stopped', most: 1 })).count).toBe(0)
    await done(page, 'Cancel', 'the lot is recalled')
    const share = async (of: Page) => Number(await of.getByRole('progressbar').getAttribute('value'))
    await expect.poll(() => share(page)).toBeGreaterThan(0)
    for (const of of [page, other]) {
      await of.getByRole('table').getByText(`${MANY} of ${MANY}`).waitFor({ timeout: 110_000 })
      await of.getByRole('table').getByText('the lot is recalled').waitFor()
    }
    expect((await stage.triarch.tasks.count({ filter: 'tag.lot:a outcome:cancelled', most: MANY })).count).toBe(MANY)
  })
})
