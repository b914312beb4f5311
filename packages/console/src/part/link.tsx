import type { ComponentChildren, JSX } from 'preact'
import { go, urlOf } from '../shell/place.ts'

/** To another place of the console: a link like any other, but nothing is loaded again. */
export function Link({
  to,
  children,
  ...rest
}: { to: string; children?: ComponentChildren } & Omit<JSX.AnchorHTMLAttributes<HTMLAnchorElement>, 'href'>) {
  return (
    <a
      {...rest}
      href={urlOf(to)}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        go(to)
      }}
    >
      {children}
    </a>
  )
}

export function taskPath(id: string): string {
  return `/tasks/${encodeURIComponent(id)}`
}
