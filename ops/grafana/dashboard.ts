// The dashboard as code: what each panel asks. `node ops/grafana/main.ts` writes triarch.json, which Grafana imports.
// Gauges are the same from each node that observes (max); counters are of each node (sum).

export interface Panel {
  title: string
  unit: string
  /** Legend → query. */
  queries: Readonly<Record<string, string>>
}

const share = (of: string, by: string) => `sum by (${by}) (rate(${of}[$__rate_interval]))`
/** A counter with labels begins with what it first counts, of which `increase` knows nothing. */
const more = (of: string) => `(${of} unless ${of} offset $__rate_interval) or increase(${of}[$__rate_interval])`
const quantile = (q: number, of: string, by: string) =>
  `histogram_quantile(${q}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${of}_bucket[$__rate_interval])))`

/** Rows of panels, from what is asked first. */
export const rows: Readonly<Record<string, readonly Panel[]>> = {
  'Is it well?': [
    { title: 'Store readable', unit: 'bool', queries: { store: 'max(triarch_store_readable)' } },
    { title: 'Living nodes', unit: 'short', queries: { '{{role}}': 'max by (role) (triarch_node_living)' } },
    { title: 'Alerts', unit: 'short', queries: { '{{code}}': `sum by (code) (${more('triarch_alert_total')})` } }, // biome-ignore format: a row
    { title: 'Open breakers', unit: 'short', queries: { '{{agent}}': 'max by (agent) (triarch_breaker_state{state="open"})' } }, // biome-ignore format: a row
  ],
  Tasks: [
    { title: 'Tasks submitted', unit: 'ops', queries: { '{{workflow}}': share('triarch_task_submitted_total', 'workflow') } }, // biome-ignore format: a row
    { title: 'Tasks that end', unit: 'ops', queries: { '{{workflow}} {{outcome}}': share('triarch_task_duration_seconds_count', 'workflow, outcome') } }, // biome-ignore format: a row
    { title: 'Duration of tasks, 95th', unit: 's', queries: { '{{workflow}}': quantile(0.95, 'triarch_task_duration_seconds', 'workflow') } }, // biome-ignore format: a row
    { title: 'Tasks that wait', unit: 'short', queries: { ready: 'max(triarch_store_ready)', inbox: 'max(triarch_store_inbox)' } }, // biome-ignore format: a row
    { title: 'Paused', unit: 'short', queries: { '{{workflow}} {{cause}}': 'max by (workflow, cause) (triarch_store_paused)' } }, // biome-ignore format: a row
  ],
  'Steps and agents': [
    { title: 'Attempts', unit: 'ops', queries: { '{{action}} {{outcome}}': share('triarch_attempt_duration_seconds_count', 'action, outcome') } }, // biome-ignore format: a row
    { title: 'Duration of attempts, 95th', unit: 's', queries: { '{{action}}': quantile(0.95, 'triarch_attempt_duration_seconds', 'action') } }, // biome-ignore format: a row
    { title: 'Retries by error', unit: 'ops', queries: { '{{action}} {{error_type}} {{lost}}': share('triarch_step_retried_total', 'action, error_type, lost') } }, // biome-ignore format: a row
    { title: 'Answered by caches', unit: 'percentunit', queries: { '{{action}}': 'sum by (action) (rate(triarch_cache_hit_total[$__rate_interval])) / (sum by (action) (rate(triarch_cache_hit_total[$__rate_interval])) + sum by (action) (rate(triarch_cache_miss_total[$__rate_interval])))' } }, // biome-ignore format: a row
    { title: 'Backlog', unit: 'short', queries: { '{{agent}}': 'max by (agent) (triarch_agent_backlog)' } },
    { title: 'Age of the backlog', unit: 's', queries: { '{{agent}}': 'max by (agent) (triarch_agent_backlog_age_seconds)' } }, // biome-ignore format: a row
    { title: 'Processes asked for', unit: 'short', queries: { '{{agent}}': 'max by (agent) (triarch_agent_demand)', '{{workflow}} {{version}}': 'max by (workflow, version) (triarch_scheduler_demand)' } }, // biome-ignore format: a row
    { title: 'Slots in use', unit: 'short', queries: { '{{action}} runs': 'sum by (action) (triarch_attempt_active)', '{{agent}} slots': 'max by (agent) (triarch_agent_slots)' } }, // biome-ignore format: a row
  ],
  'Inside the engine': [
    { title: 'Commits', unit: 's', queries: { median: quantile(0.5, 'triarch_commit_duration_seconds', ''), '99th': quantile(0.99, 'triarch_commit_duration_seconds', '') } }, // biome-ignore format: a row
    { title: 'Transitions of one commit', unit: 'short', queries: { median: quantile(0.5, 'triarch_commit_transitions', '') } }, // biome-ignore format: a row
    { title: 'Claims and sweeps, 99th', unit: 's', queries: { claim: quantile(0.99, 'triarch_claim_duration_seconds', ''), sweep: quantile(0.99, 'triarch_sweep_duration_seconds', '') } }, // biome-ignore format: a row
    { title: 'Takeovers', unit: 'short', queries: { tasks: `sum(${more('triarch_task_claimed_total{orphaned="true"}')})`, '{{kind}}': `sum by (kind) (${more('triarch_sweep_found_total')})` } }, // biome-ignore format: a row
    { title: 'Replay, 99th', unit: 's', queries: { replay: quantile(0.99, 'triarch_task_replay_duration_seconds', '') } }, // biome-ignore format: a row
    { title: 'Event loop', unit: 's', queries: { '{{instance}}': 'max by (instance) (triarch_eventloop_delay_seconds)' } }, // biome-ignore format: a row
    { title: 'Calls that wait for a connection', unit: 'short', queries: { '{{instance}} {{pool}}': 'max by (instance, pool) (triarch_store_pool_waiting)' } }, // biome-ignore format: a row
    { title: 'Leases', unit: 's', queries: { shortest: 'min(triarch_node_lease_remaining_seconds)' } },
  ],
}

/** As Grafana imports it. */
export function dashboard(): object {
  const source = { type: 'prometheus', uid: '$datasource' }
  const panels: object[] = []
  let y = 0
  for (const [title, row] of Object.entries(rows)) {
    panels.push({ id: panels.length + 1, type: 'row', title, collapsed: false, gridPos: { h: 1, w: 24, x: 0, y }, panels: [] }) // biome-ignore format: a row
    y += 1
    for (const [index, { title, unit, queries }] of row.entries()) {
      const targets = Object.entries(queries).map(([legendFormat, expr], at) => {
        return { refId: String.fromCharCode(65 + at), datasource: source, expr, legendFormat, exemplar: expr.includes('_bucket') } // biome-ignore format: a row
      })
      const gridPos = { h: 8, w: 8, x: (index % 3) * 8, y: y + Math.floor(index / 3) * 8 }
      const fieldConfig = { defaults: { unit, min: 0 }, overrides: [] }
      panels.push({ id: panels.length + 1, type: 'timeseries', title, datasource: source, gridPos, fieldConfig, targets }) // biome-ignore format: a row
    }
    y += Math.ceil(row.length / 3) * 8
  }
  const datasource = { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' }
  return {
    ...{ uid: 'triarch', title: 'Triarch', tags: ['triarch'], schemaVersion: 39, editable: true, refresh: '30s' },
    ...{ time: { from: 'now-3h', to: 'now' }, templating: { list: [datasource] }, panels },
  }
}
