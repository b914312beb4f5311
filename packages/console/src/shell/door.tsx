import { useState } from 'preact/hooks'
import { giveToken } from '../api/client.ts'
import { Dialog } from '../part/dialog.tsx'
import { t } from './preference.ts'

/** Where the server asks who we are. */
export function Door() {
  const [token, set] = useState('')
  const enter = () => {
    giveToken(token)
    location.reload()
  }
  return (
    <Dialog title={t().whoAreYou} onClose={() => undefined}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          enter()
        }}
      >
        <label class="field">
          {t().token}
          <input
            type="password"
            autoComplete="off"
            value={token}
            onInput={({ currentTarget }) => set(currentTarget.value)}
          />
        </label>
        <p class="note">{t().tokenHint}</p>
        <p class="buttons">
          <button type="submit" class="primary" disabled={token === ''}>
            {t().enter}
          </button>
        </p>
      </form>
    </Dialog>
  )
}
