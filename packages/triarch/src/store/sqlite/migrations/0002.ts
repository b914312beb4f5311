/** What transactions of the users' steps answered, kept by the transactions themselves. */
export const migration0002 = `
CREATE TABLE triarch_effects (
  task   INTEGER NOT NULL,
  step   INTEGER NOT NULL,
  name   TEXT    NOT NULL,
  answer TEXT    NOT NULL,
  PRIMARY KEY (task, step, name)
) STRICT, WITHOUT ROWID;
`
