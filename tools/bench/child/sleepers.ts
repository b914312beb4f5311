import { type Workflow, workflow } from 'triarch'

/** Sleeps until the instant, then says so. */
export const sleepers: Workflow<{ until: number }, number> = workflow('sleepers', {
  async run({ until }: { until: number }, task) {
    await task.sleep(new Date(until))
    await task.run('wake', () => woken.pass())
    return until
  },
})

/** Who counts the awake ones. */
export const woken: { pass: () => void } = { pass: () => undefined }
