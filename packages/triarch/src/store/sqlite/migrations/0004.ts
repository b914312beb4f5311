/** What retention looks at: tasks that have stopped, by when. Those of a parent that is still kept are not in it. */
export const migration0004 = `
CREATE INDEX triarch_tasks_stopped ON triarch_tasks (workflow, result, updated_at)
  WHERE status = 'stopped' AND parent IS NULL;
`
