/** Returns those of the named limits under which requests are taken now. */
export const PERMITS = `
SELECT s.name, count(*), (SELECT l.most FROM triarch.seats l WHERE l.name = s.name ORDER BY l.work DESC LIMIT 1)
FROM triarch.seats s JOIN triarch.work w ON w.id = s.work
WHERE s.name = ANY ($1::text[]) GROUP BY s.name ORDER BY s.name`

/**
 * Deletes some permits whose requests are gone, for names under which no request was taken since. It does not wait:
 * rows that another transaction holds are deleted later.
 */
export const UNSEAT = `
DELETE FROM triarch.seats d USING (
  SELECT s.name, s.work FROM triarch.seats s WHERE NOT EXISTS (SELECT 1 FROM triarch.work w WHERE w.id = s.work)
  LIMIT least($4, 1000) FOR UPDATE OF s SKIP LOCKED) g
WHERE d.name = g.name AND d.work = g.work`
