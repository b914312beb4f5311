import { controls } from './controls.ts'
import type { Route } from './route.ts'
import { schedules } from './schedules.ts'
import { system } from './system.ts'
import { tasks } from './tasks.ts'

/** All that the server does. */
export const routes: readonly Route[] = [...tasks, ...controls, ...schedules, ...system]
