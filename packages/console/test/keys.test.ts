// API keys in the browser, on a real server: from the one that is made there to the one that is taken away.
import type { ServerOptions } from '@triarch/server'
import type { Browser, Page } from 'playwright-core'
import { type Right, workflow } from 'triarch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, Stage } from './stage.ts'
import { expectUsable } from './usable.ts'

const allowed = { permissions: ['clipboard-read', 'clipboard-write'] }
const order = workflow('order', { run: async (_: null) => null })

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

/** Whoever brings no key is somebody with these rights; all of them. */
const opened = (rights?: readonly Right[], options: ServerOptions = { keys: true }) =>
  Stage.open({ workflows: [order] }, { authenticate: () => ({ id: 'ada', ...(rights && { rights }) }), ...options })

const row = (page: Page, name: string) => page.getByRole('row', { name })
const navigation = (page: Page) => page.getByRole('navigation', { name: 'Pages' })
const shownSecret = (page: Page) => page.getByRole('dialog').getByLabel('Secret').inputValue()

/** What is in the clipboard: Copy was pressed. */
async function copied(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Copy', exact: true }).click()
  await dialog.getByRole('button', { name: 'Copied' }).waitFor()
  return page.evaluate(() =>
    (
      globalThis as unknown as { navigator: { clipboard: { readText(): Promise<string> } } }
    ).navigator.clipboard.readText(),
  )
}

describe('the page of API keys', () => {
  it('makes one, whose secret is shown once and lets its holder in; another secret counts beside it, until the key is revoked', async () => {
    await using stage = await opened()
    const page = await stage.window(browser, allowed)
    const status = async (secret: string, path = '/stats') =>
      (await fetch(`${stage.url}/api/v1${path}`, { headers: { authorization: `Bearer ${secret}` } })).status
    await page.goto(stage.url)
    await navigation(page).getByRole('link', { name: 'API keys' }).click()
    await page.getByText('No API keys yet').waitFor()
    await expectUsable(page)
    await page.getByRole('button', { name: 'Create a key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('billing')
    // Without a right it is for nothing.
    expect(await dialog.getByRole('button', { name: 'Create a key' }).isDisabled()).toBe(true)
    await dialog.getByRole('checkbox', { name: /^read / }).check()
    await dialog.getByRole('checkbox', { name: /^start / }).check()
    await dialog.getByLabel('Description').fill('the billing service')
    await expectUsable(page)
    await dialog.getByLabel('Reason').press('Enter')
    await dialog.getByText('cannot be shown again').waitFor()
    const secret = await shownSecret(page)
    expect(secret).toMatch(/^triarch_billing_.{43}$/)
    expect(await copied(page)).toBe(secret)
    await expectUsable(page)
    // It is not lost by a key that was pressed too soon.
    for (let n = 0; n < 2; n++) await page.keyboard.press('Escape')
    expect(await shownSecret(page)).toBe(secret)
    await dialog.getByRole('button', { name: 'I have saved it' }).click()
    await row(page, 'billing').getByText('read, start').waitFor()
    await row(page, 'billing').getByText('ada').waitFor()
    await row(page, 'billing').getByText('not used yet').waitFor()
    expect(await page.content()).not.toContain(secret)
    const { made, expiresAt } = await stage.triarch.keys.get('billing').info()
    expect([made.actor, Number(expiresAt) - Number(made.at)]).toEqual(['ada', 90 * 86_400_000])

    expect([await status(secret), await status(secret, '/audit')]).toEqual([200, 403])
    await row(page, 'billing').getByText('not used yet').waitFor({ state: 'detached' })
    await row(page, 'billing').getByRole('button', { name: 'Rotate' }).click()
    await dialog.getByLabel('Reason').fill('each quarter')
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    await dialog.getByText('cannot be shown again').waitFor()
    const other = await copied(page)
    await dialog.getByRole('button', { name: 'I have saved it' }).click()
    await row(page, 'billing').getByText('Previous secret valid until').waitFor()
    expect([other === secret, await status(other), await status(secret)]).toEqual([false, 200, 200])
    await expectUsable(page)

    await row(page, 'billing').getByRole('button', { name: 'Revoke' }).click()
    // Nothing is taken away without a reason.
    expect(await dialog.getByRole('button', { name: 'Revoke' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Reason').fill('it was in a log')
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await dialog.getByText('Recorded.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await row(page, 'billing').getByText('it was in a log').waitFor()
    await row(page, 'billing').getByText('revoked').waitFor()
    expect(await row(page, 'billing').getByRole('button').count()).toBe(0)
    await expect.poll(async () => [await status(other), await status(secret)], { timeout: 20_000 }).toEqual([401, 401])
    await expectUsable(page)
  })

  it('says why one is not made, and keeps what was typed; hands out no right that one lacks, nor rotates a key that has it', async () => {
    await using stage = await opened(['read', 'keys'])
    await stage.triarch.keys.get('root').create({ rights: ['read', 'control'] })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/keys`)
    expect(await row(page, 'root').getByRole('button', { name: 'Rotate' }).isDisabled()).toBe(true)
    expect(await row(page, 'root').getByRole('button', { name: 'Revoke' }).isEnabled()).toBe(true)
    await expectUsable(page)
    await page.getByRole('button', { name: 'Create a key' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('checkbox', { name: /^control / }).isDisabled()).toBe(true)
    await dialog.getByRole('checkbox', { name: /^read / }).check()
    await dialog.getByLabel('Name').fill('root')
    stage.expected = /status of 4/
    await dialog.getByRole('button', { name: 'Create a key' }).click()
    await dialog.getByText('KEY_EXISTS').waitFor()
    await dialog.getByLabel('Name').fill('reader')
    await dialog.getByLabel('Expires after').fill('soon')
    await dialog.getByRole('button', { name: 'Create a key' }).click()
    await dialog.getByText('INVALID_REQUEST').waitFor()
    await dialog.getByLabel('Expires after').fill('')
    await dialog.getByRole('button', { name: 'Create a key' }).click()
    await dialog.getByText('cannot be shown again').waitFor()
    expect((await stage.triarch.keys.get('reader').info()).expiresAt).toBeUndefined()
  })

  it('asks whoever comes for a key, where nobody else is let in, and is reached by keyboard, in German, too; and asks again where that key is revoked under the open page', async () => {
    await using stage = await Stage.open({ workflows: [order] }, { keys: true })
    const { secret } = await stage.triarch.keys.get('first').create({ rights: ['read', 'keys'] })
    stage.expected = /status of 401/
    const page = await stage.window(browser, { locale: 'de-DE', viewport: { width: 390, height: 800 } })
    await page.goto(`${stage.url}/keys`)
    await page.getByLabel('Schlüssel', { exact: true }).fill(secret)
    await page.keyboard.press('Enter')
    await row(page, 'first').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    await page.getByRole('heading', { name: 'Übersicht' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('k')
    await row(page, 'first').getByText('gilt').waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('Schlüssel anlegen')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByLabel('Name').fill('zweiter')
    await expectUsable(page)
    // The key that let one in ends meanwhile. Another one goes on where one was, with what was typed.
    const spare = await stage.triarch.keys.get('spare').create({ rights: ['read', 'keys'] })
    await stage.triarch.keys.get('first').revoke({ reason: 'it was in a log' })
    await page.getByText('Der Server fragt, wer Sie sind').waitFor()
    await page.getByLabel('Schlüssel', { exact: true }).fill(spare.secret)
    await page.keyboard.press('Enter')
    await page.getByText('Der Server fragt, wer Sie sind').waitFor({ state: 'detached' })
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).toBe('zweiter')
    await page.getByRole('dialog').getByRole('button', { name: 'Schließen' }).click()
    await row(page, 'first').getByText('it was in a log').waitFor()
  })

  it.each([
    ['whoever lacks the right', ['read', 'audit'], { keys: true }],
    ['anybody where the server takes no keys', undefined, {}],
  ] as const)('is not there for %s', async (_, rights, options) => {
    await using stage = await opened(rights, options)
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/keys`)
    await page.getByRole('heading', { name: '404' }).waitFor()
    await navigation(page).getByRole('link', { name: 'Audit' }).waitFor()
    expect(await page.getByRole('link', { name: 'API keys' }).count()).toBe(0)
    const dialog = page.getByRole('dialog')
    await page.keyboard.press('Control+k')
    await dialog.getByRole('combobox').fill('Audit')
    await dialog.getByRole('option', { name: 'Audit' }).waitFor()
    await dialog.getByRole('combobox').fill('API keys')
    await expect.poll(() => dialog.getByRole('option').count()).toBe(0)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.keyboard.press('?')
    await dialog.getByText('Audit').waitFor()
    expect(await dialog.getByText('API keys').count()).toBe(0)
  })
})
