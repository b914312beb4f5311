import { useEffect, useId, useState } from 'preact/hooks'
import { t } from '../shell/preference.ts'

export interface Option {
  key: string
  label: string
  /** What it is, beside the label. */
  kind?: string
}

/**
 * A line to type in, and below it what may be meant: arrows choose, Enter takes, Escape closes
 * (https://www.w3.org/WAI/ARIA/apg/patterns/combobox/). Enter without a choice is left to the form around it.
 */
export function Combobox<O extends Option>({
  label,
  value,
  options,
  onType,
  onTake,
  isFirstChosen = false,
  isAlwaysOpen = false,
  none: nothing,
  ...rest
}: {
  label: string
  value: string
  options: readonly O[]
  onType: (value: string) => void
  onTake: (option: O) => void
  /** Enter takes the first, if none was chosen. */
  isFirstChosen?: boolean
  isAlwaysOpen?: boolean
  /** Shown where nothing fits what was typed. */
  none?: string
  placeholder?: string
  /** Of a dialog: where one types at once. */
  autofocus?: boolean
  'data-filter'?: boolean
}) {
  const id = useId()
  const none = isFirstChosen ? 0 : -1
  const [at, setAt] = useState(none)
  const [isTyping, setTyping] = useState(false)
  const isOpen = options.length > 0 && (isAlwaysOpen || isTyping)
  const chosen = isOpen ? options[Math.min(at, options.length - 1)] : undefined
  const idOf = (option: O) => `${id}-${options.indexOf(option)}`
  useEffect(() => {
    if (chosen) document.getElementById(idOf(chosen))?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  const pressed = (event: KeyboardEvent) => {
    // Keys by which a character is still being made are not ours.
    if (event.isComposing) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setTyping(true)
      const step = event.key === 'ArrowDown' ? 1 : -1
      setAt(Math.max(none, Math.min(at + step, options.length - 1)))
    } else if (
      chosen &&
      (event.key === 'Enter' || (event.key === 'Tab' && !event.shiftKey && at >= 0 && !isAlwaysOpen))
    ) {
      event.preventDefault()
      setAt(none)
      onTake(chosen)
    } else if (event.key === 'Escape' && isOpen && !isAlwaysOpen) {
      event.stopPropagation()
      setTyping(false)
    }
  }
  return (
    <div class="combobox">
      <input
        {...rest}
        role="combobox"
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-activedescendant={chosen ? idOf(chosen) : undefined}
        spellcheck={false}
        autoComplete="off"
        value={value}
        onInput={({ currentTarget }) => {
          setTyping(true)
          setAt(none)
          onType(currentTarget.value)
        }}
        onBlur={() => setTyping(false)}
        onKeyDown={pressed}
      />
      <div id={`${id}-list`} class="listbox" role="listbox" aria-label={t().meant} hidden={!isOpen}>
        {options.map((option) => (
          // The keyboard is that of the line above.
          <div
            key={option.key}
            id={idOf(option)}
            role="option"
            tabIndex={-1}
            aria-selected={option === chosen}
            onMouseDown={(event) => {
              event.preventDefault()
              onTake(option)
            }}
          >
            <span>{option.label}</span>
            {option.kind !== undefined && <span class="kind">{option.kind}</span>}
          </div>
        ))}
      </div>
      {nothing !== undefined && (
        <p class="note" role="status">
          {options.length === 0 && nothing}
        </p>
      )}
    </div>
  )
}
