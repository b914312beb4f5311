import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { t } from '../shell/preference.ts'

/** Stands before all else until it is closed; the browser keeps the focus in it and gives it back. */
export function Dialog({
  title,
  onClose,
  isKept = false,
  children,
}: {
  title: string
  onClose?: () => void
  /** It stays until what it asks for is given. */
  isKept?: boolean
  children: ComponentChildren
}) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    element.current?.showModal()
  }, [])
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onCancel={(event) => isKept && event.preventDefault()}
      // A browser closes it all the same when Escape is pressed twice.
      onClose={() => (isKept ? element.current?.showModal() : onClose?.())}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {!isKept && (
          <button type="button" class="quiet" aria-label={t().close} onClick={() => element.current?.close()}>
            ×
          </button>
        )}
      </header>
      {children}
    </dialog>
  )
}
