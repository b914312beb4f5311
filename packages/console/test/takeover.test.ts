// A real process that is killed, as somebody sees it who has the page of its task open.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { workflow } from 'triarch'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launch, Stage } from './stage.ts'
import { expectUsable } from './usable.ts'

/** What it does is known to the nodes that run it: node.process.ts. */
const parcel = workflow('parcel', { run: async (_: null): Promise<string> => 'nothing' })

const children: ChildProcess[] = []
let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await browser?.close()
})

it('a kill -9 is seen in the console: nobody who could go on, the node that is gone, and how another one takes over', async () => {
  await using stage = await Stage.open({ workflows: [parcel], roles: ['supervisor'], sweep: '100ms' })
  const node = async (mode: string): Promise<ChildProcess> => {
    const child = fork(join(import.meta.dirname, 'node.process.ts'), [stage.path, mode], { execArgv: [] })
    children.push(child)
    await once(child, 'message')
    return child
  }
  const first = await node('hang')
  await stage.triarch.submit(parcel, null, { id: 'p-1' })
  const page = await stage.window(browser)
  await page.goto(`${stage.url}/tasks/p-1`)
  await page.locator('.steps').getByText('running').waitFor()
  const killed = (await stage.triarch.tasks.get('p-1').status()).lockedBy as string
  first.kill('SIGKILL')
  await once(first, 'exit')
  // Nobody is left who could go on: the page says so, and leads to the nodes.
  await page.locator('.why').getByRole('link', { name: 'Nodes' }).waitFor()
  await expectUsable(page)
  await page.locator('.why').getByRole('link', { name: 'Nodes' }).click()
  await page.getByRole('table').getByText(killed).waitFor({ state: 'detached' })
  const second = await node('ship')
  await page.goBack()
  await page.getByRole('heading', { name: 'Result' }).waitFor()
  await page.getByRole('tab', { name: 'History' }).click()
  // Whoever takes over does not know what became of the attempt, and asks before it does it again.
  const events = page.getByRole('table')
  await events.getByText('STEP_LOST').waitFor()
  for (const event of ['verified', 'stepCompleted']) await events.getByText(event, { exact: true }).waitFor()
  expect(await stage.triarch.tasks.get('p-1').result()).toBe('shipped')
  second.kill('SIGKILL')
  await once(second, 'exit')
})
