import { t } from '../shell/preference.ts'

/** Below a list that has an end of its own: how many are shown, and what shows the others. */
export function First({ of, next, command }: { of: readonly unknown[]; next: string | undefined; command: string }) {
  return next === undefined ? null : <p class="note">{t().habits.firstOnly(of.length, command)}</p>
}
