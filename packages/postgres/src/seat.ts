/** Bounds under which requests are taken now, of those named. */
export const SEATS = `
SELECT s.name, count(*), (SELECT l.most FROM triarch.seats l WHERE l.name = s.name ORDER BY l.work DESC LIMIT 1)
FROM triarch.seats s JOIN triarch.work w ON w.id = s.work
WHERE s.name = ANY ($1::text[]) GROUP BY s.name ORDER BY s.name`

/** Of seats whose requests are gone, and whose names nobody took again, so many go. Nobody is waited for: what a taker has at hand goes later. */
export const UNSEAT = `
DELETE FROM triarch.seats d USING (
  SELECT s.name, s.work FROM triarch.seats s WHERE NOT EXISTS (SELECT 1 FROM triarch.work w WHERE w.id = s.work)
  LIMIT least($4, 1000) FOR UPDATE OF s SKIP LOCKED) g
WHERE d.name = g.name AND d.work = g.work`
