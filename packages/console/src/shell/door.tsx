import { useState } from 'preact/hooks'
import { giveToken, wasRefused } from '../api/client.ts'
import { Dialog } from '../part/dialog.tsx'
import { t } from './preference.ts'

/** Where the server asks who we are. Nothing behind it is lost: what was open and typed is there once it is passed. */
export function Door() {
  const [token, set] = useState('')
  return (
    <Dialog title={t().whoAreYou} isKept>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          giveToken(token)
        }}
      >
        {wasRefused() && (
          <p class="note bad" role="alert">
            {t().habits.wrongToken}
          </p>
        )}
        <label class="field">
          {t().token}
          <input
            type="password"
            autoComplete="off"
            value={token}
            onInput={({ currentTarget }) => set(currentTarget.value)}
          />
        </label>
        <p class="note">
          {t().tokenHint} {t().habits.keptPlace}
        </p>
        <p class="buttons">
          <button type="submit" class="primary" disabled={token === ''}>
            {t().enter}
          </button>
        </p>
      </form>
    </Dialog>
  )
}
