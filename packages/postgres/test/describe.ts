import type pg from 'pg'

/**
 * The schema as the catalogue tells it: tables with their columns, settings, constraints and indexes, views, triggers, sequences, functions. The
 * same from every supported version of the server.
 */
export async function describeSchema(client: pg.Client, schema: string): Promise<string> {
  const parts = [
    `SELECT format('table %s %s', c.relname, coalesce(array_to_string(c.reloptions, ' '), '')) AS line
     FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' ORDER BY c.relname`,
    `SELECT format('column %s.%s %s%s%s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
       CASE WHEN a.attnotnull THEN ' not null' END, CASE WHEN co.collname = 'C' THEN ' C' END,
       CASE WHEN a.attidentity <> '' THEN ' identity ' || a.attidentity::text END,
       ' default ' || pg_get_expr(d.adbin, d.adrelid)) AS line
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_collation co ON co.oid = a.attcollation
       LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'v') AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY c.relname, a.attnum`,
    `SELECT format('constraint %s %s: %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) AS line
     FROM pg_constraint c WHERE c.connamespace = $1::regnamespace AND c.contype <> 'n' ORDER BY 1`,
    `SELECT indexdef AS line FROM pg_indexes WHERE schemaname = $1 ORDER BY indexname`,
    `SELECT format('view %s: %s', viewname, regexp_replace(definition, '\\mtasks\\.', '', 'g')) AS line FROM pg_views WHERE schemaname = $1 ORDER BY viewname`,
    `SELECT format('trigger %s on %s %s: %s', t.tgname, c.relname, t.tgenabled, pg_get_triggerdef(t.oid)) AS line
     FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
     WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal ORDER BY t.tgname`,
    `SELECT format('sequence %s', c.relname) AS line FROM pg_class c
     WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'S' ORDER BY c.relname`,
    `SELECT format('function %s(%s) %s %s: %s', p.proname, pg_get_function_identity_arguments(p.oid),
       pg_get_function_result(p.oid), coalesce(array_to_string(p.proconfig, ' '), ''), md5(replace(p.prosrc, format('"%s".', $1::text), ''))) AS line
     FROM pg_proc p WHERE p.pronamespace = $1::regnamespace ORDER BY p.proname, pg_get_function_identity_arguments(p.oid) COLLATE "C"`,
  ]
  const lines: string[] = []
  for (const part of parts) {
    const { rows } = await client.query<{ line: string }>(part, [schema])
    lines.push(...rows.map(({ line }) => line))
  }
  return `${lines.join('\n')}\n`.replaceAll(new RegExp(`\\b${schema}\\b`, 'g'), 'triarch')
}
