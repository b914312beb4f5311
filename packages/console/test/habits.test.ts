import { readFileSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'
import { createServer } from '@triarch/server'
import type { Browser, Page } from 'playwright-core'
import { agent, workflow } from 'triarch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { files } from '../src/index.ts'
import { launch, Stage } from './stage.ts'

/** More than a double holds. */
const EXACT = 9007199254740993n

const till = agent('till')
const count = till.action('count', { run: async () => 1 })
const order = workflow('order', {
  run: async (_: { amount: number }, task) => {
    await task.run(count, null)
    return { exact: 1 }
  },
})

let browser: Browser
let stage: Stage
beforeAll(async () => {
  browser = await launch()
  const alerts = { every: '100ms', rules: { check: { for: 0 } } } as const
  stage = await Stage.open({ workflows: [order], agents: [till], alerts, health: { checks: { bank: () => false } } })
  await (await stage.triarch.submit(order, { amount: 42 }, { id: 'o-1' })).result()
  await stage.triarch.schedules.get('nightly').register({ workflow: order, input: { amount: 1 }, cron: '0 3 * * *' })
})
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]()
  await browser?.close()
})

const opened = async (path: string, options = {}): Promise<Page> => {
  const page = await stage.window(browser, options)
  await page.goto(stage.url + path)
  return page
}

describe('the console', () => {
  it('goes back to where one was on a page, and names each place', async () => {
    const page = await opened('/tasks')
    await page.waitForFunction("document.title === 'Tasks · Triarch'")
    await page.getByRole('link', { name: 'o-1' }).click()
    await page.waitForFunction("document.title === 'o-1 · Tasks · Triarch'")
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('tab', { name: 'Input and output' }).click()
    await page.goBack()
    await page.getByRole('tab', { name: 'History', selected: true }).waitFor()
    await page.goBack()
    await page.getByRole('tab', { name: 'Steps', selected: true }).waitFor()
    await page.goBack()
    await page.waitForURL(/\/tasks$/)
  })

  it('takes the focus along to where Enter leads', async () => {
    const page = await opened('/tasks')
    await page.getByRole('link', { name: 'o-1' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(/o-1$/)
    await page.waitForFunction("document.activeElement.id === 'main'")
  })

  it('does nothing by keys of one letter where somebody wants it so', async () => {
    const page = await opened('/tasks')
    await page.keyboard.press('?')
    await page.getByLabel('Single-key shortcuts').uncheck()
    await page.keyboard.press('Escape')
    await page.keyboard.press('r')
    await page.keyboard.press('g')
    await page.keyboard.press('n')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or run a command' }).waitFor()
    expect(page.url()).toMatch(/\/tasks$/)
    expect(await page.getByRole('button', { name: 'Pause updates' }).count()).toBe(1)
  })

  it('shows what a task was given, also on paper', async () => {
    const page = await opened('/tasks/o-1?tab=data')
    await page.getByRole('region', { name: 'Input' }).getByText('42').waitFor()
    await page.getByRole('tab', { name: 'Report' }).click()
    await page.getByRole('article').getByText('"amount": 42').waitFor()
  })

  it('shows numbers to the last digit, and saves what it shows', async () => {
    const page = await stage.window(browser)
    await page.route('**/api/v1/tasks/o-1', async (route) => {
      const answer = await (await route.fetch()).text()
      await route.fulfill({
        contentType: 'application/json',
        body: answer.replace('{"exact":1}', `{"exact":${EXACT}}`),
      })
    })
    await page.goto(`${stage.url}/tasks/o-1?tab=data`)
    await page.getByRole('region', { name: 'Output' }).getByText(String(EXACT)).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('tabpanel').getByRole('button', { name: 'Download JSON' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('o-1.json')
    expect(readFileSync(await download.path(), 'utf8')).toContain(`"exact": ${EXACT}`)
  })

  it('says times as they are in the zone that was chosen', async () => {
    const page = await opened('/tasks/o-1', { timezoneId: 'Asia/Kolkata' })
    const time = page.locator('.facts time').first()
    await page.getByLabel('Timestamps').selectOption('absolute')
    const at = new Date((await time.getAttribute('datetime')) ?? '')
    const told = (timeZone: string) =>
      at.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone })
    expect(await time.textContent()).toBe(told('Asia/Kolkata'))
    await page.getByLabel('Time zone').selectOption('utc')
    expect(await time.textContent()).toBe(`${told('UTC')} UTC`)
  })

  it('bears an address that is none, and a page that fails', async () => {
    stage.expected = /status of 4/
    const page = await opened('/tasks/100%')
    await page.getByRole('alert').waitFor()
    let isBroken = true
    await page.route('**/api/v1/nodes', (route) =>
      isBroken ? route.fulfill({ contentType: 'application/json', body: '{"nodes":[null]}' }) : route.continue(),
    )
    await page.getByRole('link', { name: 'Nodes' }).click()
    const failure = page.getByRole('alert').filter({ hasText: 'This page has failed' })
    await failure.waitFor()
    isBroken = false
    await failure.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('table').getByText('scheduler').waitFor()
  })

  it('keeps why a schedule goes on and is made up for', async () => {
    const page = await opened('/schedules/nightly')
    const dialog = page.getByRole('dialog')
    for (const act of ['Pause', 'Resume', 'Backfill']) {
      await page.getByRole('main').getByRole('button', { name: act, exact: true }).click()
      if (act === 'Backfill') {
        await dialog.getByLabel('From').fill('2026-01-01')
        await dialog.getByLabel('To').fill('2026-01-02')
      }
      await dialog.getByLabel('Reason').fill(`because: ${act}`)
      await dialog.getByRole('button', { name: act, exact: true }).click()
      await page.getByText('Recorded.').waitFor()
      await dialog.getByRole('button', { name: 'Close' }).last().click()
    }
    const { entries } = await stage.triarch.audit.list({ subject: 'schedule:nightly' })
    expect(entries.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['because: Resume', 'because: Backfill']),
    )
  })

  it('names the right that is missing where something is wrong', async () => {
    await using barred = await Stage.open(
      {
        workflows: [order],
        alerts: { every: '100ms', rules: { check: { for: 0 } } },
        health: { checks: { bank: () => false } },
      },
      { authenticate: () => ({ id: 'guest', rights: ['read'] }) },
    )
    const page = await barred.window(browser)
    for (const path of ['/', '/alerts']) {
      await page.goto(barred.url + path)
      const act = page.getByRole('table').getByRole('button', { name: 'Acknowledge' }).first()
      await act.waitFor({ timeout: 20_000 })
      await expect.poll(() => act.isDisabled()).toBe(true)
      await page.getByText('This needs the right alerts').waitFor()
    }
  })

  it('acts from a page that came by plain HTTP from another machine', async () => {
    const far = await launch(['--host-resolver-rules=MAP intranet 127.0.0.1'])
    const authenticate = () => ({ id: 'ada' })
    const open = createServer(stage.triarch, { workflows: [order], console: files, authenticate })
    try {
      const { port } = new URL((await open.listen({ port: 0, host: '0.0.0.0', signals: [] })).url)
      const page = await (await far.newContext()).newPage()
      await page.goto(`http://intranet:${port}/start?workflow=order`)
      expect(await page.evaluate('isSecureContext')).toBe(false)
      await page.getByRole('heading', { name: 'Start a task' }).waitFor()
      await page.goto(`http://intranet:${port}/schedules/nightly`)
      await page.getByRole('main').getByRole('button', { name: 'Run now' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Run now' }).click()
      await page.getByText('Recorded.').waitFor()
    } finally {
      await far.close()
      await open.close()
    }
  })

  it('is served by any server of files, below any path, for an API that is elsewhere', async () => {
    const types: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css' }
    let api = ''
    const plain = createHttp((request, response) => {
      const path = (request.url ?? '').replace('/ops/console/', '')
      if (path.startsWith('assets/')) {
        response.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' })
        return void response.end(readFileSync(new URL(path, files)))
      }
      const html = readFileSync(new URL('index.html', files), 'utf8')
        .replace(/<base href="[^"]*"/, '<base href="/ops/console/"')
        .replace(/(name="triarch-api" content=")[^"]*/, `$1${api}`)
      response.writeHead(200, { 'content-type': 'text/html' }).end(html)
    })
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`
    await using other = await Stage.open({ workflows: [order], agents: [till] }, { origins: [origin] })
    api = `${other.url}/api/v1`
    await (await other.triarch.submit(order, { amount: 1 }, { id: 'far' })).result()
    const page = await (await browser.newContext()).newPage()
    const complaints: string[] = []
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    await page.goto(`${origin}/ops/console/tasks`)
    await page.getByRole('link', { name: 'far' }).click()
    await page.waitForURL(`${origin}/ops/console/tasks/far`)
    await page.locator('.why').getByText('success').first().waitFor()
    await page.getByRole('tab', { name: 'Graph' }).click()
    await page.locator('svg[data-nodes="1"]').waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
    plain.closeAllConnections()
    plain.close()
  })
})
