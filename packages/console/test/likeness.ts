import type { Browser, Page } from 'playwright-core'

/** A square of so many pixels is seen as one, of their mean colour. */
const CELL = 4
/** Colours are remembered in steps of so much (of 255). */
const SHADE = 8
/** So far apart are colours that are seen as two (of 255, in the channel that differs most). */
const APART = 24
/** So many squares of another colour are seen: a word of three letters. */
const SEEN = 20

/** What runs in the window. */
interface Canvas {
  getContext(kind: '2d'): {
    drawImage(image: unknown, x: number, y: number): void
    getImageData(x: number, y: number, width: number, height: number): { data: Uint8ClampedArray }
    putImageData(image: unknown, x: number, y: number): void
  }
  convertToBlob(): Promise<Blob>
}
interface Window {
  OffscreenCanvas: new (width: number, height: number) => Canvas
  ImageData: new (data: Uint8ClampedArray, width: number, height: number) => unknown
  createImageBitmap(blob: Blob): Promise<{ width: number; height: number }>
}

/** Compares pictures as somebody would who is not told of pixels: in squares, and with an allowance for how letters are drawn. */
export class Eye {
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  static async open(browser: Browser): Promise<Eye> {
    return new Eye(await (await browser.newContext()).newPage())
  }

  /** What is remembered of a picture: a smaller one. */
  async remember(picture: Buffer): Promise<Buffer> {
    const { image } = await this.#look(picture, null)
    return Buffer.from(image, 'base64')
  }

  /** What is not as it was remembered; null: nothing that is seen. */
  async notice(picture: Buffer, remembered: Buffer): Promise<string | null> {
    const { now, was, differ, from, to } = await this.#look(picture, remembered)
    if (now.width !== was.width || Math.abs(now.height - was.height) > 1)
      return `it has ${now.width} × ${now.height} squares, and had ${was.width} × ${was.height}`
    if (differ < SEEN) return null
    return `${differ} squares differ, from ${from.x}, ${from.y} to ${to.x + CELL}, ${to.y + CELL}`
  }

  #look(picture: Buffer, remembered: Buffer | null) {
    return this.#page.evaluate(
      async ({ picture, remembered, cell, shade, apart }) => {
        const { OffscreenCanvas, ImageData, createImageBitmap } = globalThis as unknown as Window
        const pixelsOf = async (encoded: string) => {
          const blob = await (await fetch(`data:image/png;base64,${encoded}`)).blob()
          const bitmap = await createImageBitmap(blob)
          const { width, height } = bitmap
          const context = new OffscreenCanvas(width, height).getContext('2d')
          context.drawImage(bitmap, 0, 0)
          return { width, height, data: context.getImageData(0, 0, width, height).data }
        }
        const whole = await pixelsOf(picture)
        const [width, height] = [Math.floor(whole.width / cell), Math.floor(whole.height / cell)]
        const sums = new Uint32Array(width * height * 4)
        for (let y = 0; y < height * cell; y++)
          for (let x = 0; x < width * cell; x++) {
            const at = (Math.floor(y / cell) * width + Math.floor(x / cell)) * 4
            const pixel = (y * whole.width + x) * 4
            for (let channel = 0; channel < 4; channel++)
              sums[at + channel] = (sums[at + channel] ?? 0) + (whole.data[pixel + channel] ?? 0)
          }
        const now = { width, height, data: Uint8ClampedArray.from(sums, (sum) => sum / cell ** 2) }
        if (remembered === null) {
          const canvas = new OffscreenCanvas(width, height)
          const shaded = now.data.map((it) => Math.round(it / shade) * shade)
          canvas.getContext('2d').putImageData(new ImageData(shaded, width, height), 0, 0)
          const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())
          const image = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
          return {
            image,
            now: { width, height },
            was: { width, height },
            differ: 0,
            from: { x: 0, y: 0 },
            to: { x: 0, y: 0 },
          }
        }
        const then = await pixelsOf(remembered)
        let differ = 0
        const [from, to] = [
          { x: Number.POSITIVE_INFINITY, y: Number.POSITIVE_INFINITY },
          { x: 0, y: 0 },
        ]
        for (let at = 0; at < Math.min(now.data.length, then.data.length); at += 4) {
          const far = [0, 1, 2].some((it) => Math.abs((now.data[at + it] ?? 0) - (then.data[at + it] ?? 0)) > apart)
          if (!far) continue
          differ++
          const [x, y] = [((at / 4) % width) * cell, Math.floor(at / 4 / width) * cell]
          Object.assign(from, { x: Math.min(from.x, x), y: Math.min(from.y, y) })
          Object.assign(to, { x: Math.max(to.x, x), y: Math.max(to.y, y) })
        }
        return { image: '', now: { width, height }, was: { width: then.width, height: then.height }, differ, from, to }
      },
      {
        picture: picture.toString('base64'),
        remembered: remembered?.toString('base64') ?? null,
        cell: CELL,
        shade: SHADE,
        apart: APART,
      },
    )
  }
}
