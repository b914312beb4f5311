import type { Picture } from './draw.ts'

/** What is seen of a picture: its upper left corner in the picture's own units, and how large one of them is drawn. */
export interface Viewport {
  x: number
  y: number
  scale: number
}

export interface Size {
  width: number
  height: number
}

/** Of a node (px). */
export const WIDE = 176
export const HIGH = 34
const MARGIN = 24
const [SMALLEST, LARGEST] = [0.02, 2]
/** Below it, letters could not be read: nodes are drawn as marks of their state. */
export const LEGIBLE = 0.6

/** All of it, no larger than life. */
export function fitting({ width, height }: Picture, size: Size): Viewport {
  const [w, h] = [width + WIDE + 2 * MARGIN, height + HIGH + 2 * MARGIN]
  const scale = clamp(Math.min(size.width / w, size.height / h, 1))
  return {
    scale,
    x: width / 2 - size.width / scale / 2,
    y: height / 2 - size.height / scale / 2,
  }
}

/** The same, larger or smaller by a factor; the point at `around` (px of the window on it) stays where it is. */
export function zoomed({ x, y, scale }: Viewport, factor: number, around: { x: number; y: number }): Viewport {
  const next = clamp(scale * factor)
  return { scale: next, x: x + around.x / scale - around.x / next, y: y + around.y / scale - around.y / next }
}

/** So that a point is in the middle, and can be read. */
export function centred({ scale }: Viewport, size: Size, point: { x: number; y: number }): Viewport {
  const legible = Math.max(scale, LEGIBLE * 1.5)
  return { scale: legible, x: point.x - size.width / legible / 2, y: point.y - size.height / legible / 2 }
}

export function isSeen({ x, y, scale }: Viewport, size: Size, point: { x: number; y: number }, margin = 0): boolean {
  const [right, bottom] = [x + size.width / scale, y + size.height / scale]
  return (
    point.x + WIDE / 2 + margin >= x &&
    point.x - WIDE / 2 - margin <= right &&
    point.y + HIGH / 2 + margin >= y &&
    point.y - HIGH / 2 - margin <= bottom
  )
}

function clamp(scale: number): number {
  return Math.min(LARGEST, Math.max(SMALLEST, scale))
}
