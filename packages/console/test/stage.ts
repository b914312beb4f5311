import { createServer, type ServerOptions, type TriarchServer } from '@triarch/server'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { Triarch, type TriarchOptions, type Workflow } from 'triarch'
import { expect } from 'vitest'
import { scratch } from '../../triarch/test/engine/scratch.ts'
import { files } from '../src/index.ts'

export { launch } from './chromium.ts'

/** An engine, its server with the console, and a browser's window on it. Ends with what the window complained of. */
export class Stage implements AsyncDisposable {
  readonly #file = scratch()
  readonly triarch: Triarch
  readonly #options: ServerOptions
  #server: TriarchServer
  url = ''
  readonly #contexts: BrowserContext[] = []
  /** What no window may do: errors of the page, requests to elsewhere. */
  readonly complaints: string[] = []
  /** Complaints that belong to what a test does. */
  expected: RegExp | null = null

  private constructor(options: Omit<TriarchOptions, 'store'>, server: ServerOptions) {
    this.triarch = new Triarch({ ...options, store: this.#file.store, notices: false })
    this.#options = { workflows: options.workflows as readonly Workflow[], console: files, ...server }
    this.#server = createServer(this.triarch, this.#options)
  }

  static async open(options: Omit<TriarchOptions, 'store'>, server: ServerOptions = {}): Promise<Stage> {
    const stage = new Stage(options, server)
    await stage.triarch.start()
    await stage.listen(0)
    return stage
  }

  async listen(port: number): Promise<void> {
    this.#server = createServer(this.triarch, this.#options)
    this.url = (await this.#server.listen({ port, signals: [] })).url
  }

  /** The file of its store, for other processes. */
  get path(): string {
    return this.#file.path
  }

  /** Nobody answers any more, until listen(). */
  silence(): Promise<void> {
    return this.#server.close()
  }

  async window(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 }, ...options })
    this.#contexts.push(context)
    const page = await context.newPage()
    page.on('pageerror', (error) => this.complaints.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text())
    })
    page.on('request', (request) => {
      const from = new URL(request.url())
      if (from.protocol.startsWith('http') && from.origin !== new URL(this.url).origin)
        this.complaints.push(request.url())
    })
    page.setDefaultTimeout(60_000)
    return page
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()))
    await this.#server.close()
    await this.triarch.stop()
    this.#file[Symbol.dispose]()
    expect(this.complaints.filter((it) => !this.expected?.test(it))).toEqual([])
  }
}
