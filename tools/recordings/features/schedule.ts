import { workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const report = workflow('report', { run: async (of: string, task) => `${of} in ${task.id}` })

/** The tasks of a schedule, also those that are filled in. */
export const schedules: Feature = {
  name: 'schedule',
  workflows: [report],
  script: [
    { at: 1, always: true, do: ({ triarch }) => triarch.schedules.get('hourly').register({ workflow: report, input: 'sales', cron: '0 * * * *', catchUp: { limit: 5 } }) }, // biome-ignore format: one line
    {
      at: 60,
      do: async ({ triarch }) =>
        triarch.schedules.get('hourly').backfill({ from: new Date('2025-12-31T21:30:00Z'), to: new Date('2025-12-31T23:30:00Z') }), // biome-ignore format: one line
    },
    { at: 9_000, do: async ({ triarch }) => triarch.schedules.get('hourly').pause() },
  ],
}
