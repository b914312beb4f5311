import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

/** Fewer rows than these are all there. */
export const FEW = 150
/** Rows beyond what is seen, to either side. */
const BEYOND = 20
/** Until one was measured (px). */
const HEIGHT = 36

export interface Extent {
  from: number
  to: number
  /** Of one row (px). */
  height: number
}

/** Which of many rows are near what is seen of the body of a table; all of them, if they are few. Rows are of one height. */
export function useExtent(body: RefObject<HTMLTableSectionElement>, count: number): Extent {
  const [extent, set] = useState<Extent>({ from: 0, to: 2 * BEYOND, height: HEIGHT })
  const isLong = count > FEW
  useLayoutEffect(() => {
    if (!isLong) return
    let frame = 0
    const look = () => {
      frame = 0
      const element = body.current
      if (!element) return
      const height = element.querySelector<HTMLElement>('tr[data-index]')?.offsetHeight || HEIGHT
      const above = -element.getBoundingClientRect().top
      const first = Math.floor(above / height) - BEYOND
      const last = Math.ceil((above + innerHeight) / height) + BEYOND
      const to = Math.max(0, Math.min(count, last))
      const from = Math.max(0, Math.min(first, to))
      set((old) => (old.from === from && old.to === to && old.height === height ? old : { from, to, height }))
    }
    const soon = () => {
      frame ||= requestAnimationFrame(look)
    }
    look()
    addEventListener('scroll', soon, { passive: true })
    addEventListener('resize', soon)
    return () => {
      cancelAnimationFrame(frame)
      removeEventListener('scroll', soon)
      removeEventListener('resize', soon)
    }
  }, [isLong, count])
  return isLong ? extent : { from: 0, to: count, height: extent.height }
}
