/** Bounds under which requests are taken now, of those named. */
export const SEATS = `
SELECT s.name, count(*), (SELECT l.most FROM triarch.seats l WHERE l.name = s.name ORDER BY l.work DESC LIMIT 1)
FROM triarch.seats s JOIN triarch.work w ON w.id = s.work
WHERE s.name = ANY ($1::text[]) GROUP BY s.name ORDER BY s.name`
