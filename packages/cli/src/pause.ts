import type { SettingPause } from 'triarch'
import { instant } from './table.ts'

/** What an operator has paused by a setting, why and since when. */
export function said({ name, reason, actor, since }: SettingPause): string {
  return `${name} is paused since ${instant(since)} by ${actor}: ${reason}`
}
