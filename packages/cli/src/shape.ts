/**
 * What the commands print with `--json`. A shape is the name of a schema of the server's document (`/api/v1/openapi.json`), which both print, a
 * member of one (`TaskPage.tasks[]`: each of its items), or members of its own; `[T]` and `T[]` are many, and what has a name with `?` may be missing.
 */
export type Shape = string | readonly [each: Shape] | { readonly [name: string]: Shape }

/** How often a command prints its shape: `one`, an array of it (`many`; with `--jsonl` a line for each), or a line for each as it happens. */
export type Printed = readonly ['one' | 'many' | 'lines', ...Shape[]] | readonly ['none', why: string]

const accepted: Shape = { id: 'string', accepted: 'string' }
const named: Shape = { name: 'string', accepted: 'string' }
const profile: Shape = { name: 'string', where: 'string', key: 'string', 'default?': 'boolean' }
const result: Shape = { id: 'string', result: 'string', 'code?': 'string', 'message?': 'string' }
/** A control says that it was accepted; with `--wait`, how the task ended. */
const control: Printed = ['one', accepted, 'Task']
const setting: Printed = ['one', 'Setting']
const breaker: Printed = ['one', 'Breaker']
const rate: Printed = ['one', 'RateLimit']
const alert: Printed = ['one', 'Alert']
const endless = 'it goes on until somebody ends it, and says on its standard output what happens'

/** Every command, by its words. */
export const shapes: Readonly<Record<string, Printed>> = {
  'task list': ['many', 'TaskInfo'],
  'task get': ['one', 'Task'],
  'task watch': ['lines', 'TaskInfo'],
  'task history': ['many', 'History.records[]'],
  'task steps': ['many', 'Steps.steps[]'],
  'task explain': ['one', 'Explanation'],
  'task logs': ['many', 'LogLine'],
  'task start': ['one', { id: 'string' }, 'Task'],
  'task signal': control,
  'task pause': control,
  'task resume': control,
  'task cancel': control,
  'task retry': control,
  'task skip': control,
  'task compensate': control,
  'schedule list': ['many', 'Schedule'],
  'schedule get': ['one', 'Schedule'],
  'schedule pause': ['one', named],
  'schedule resume': ['one', named],
  'schedule run': ['one', { task: 'string' }],
  'schedule remove': ['one', named],
  'schedule next': ['many', { at: 'Instant' }],
  'schedule backfill': ['many', { id: 'string' }],
  'operation preview': ['one', { count: 'number', 'truncated?': 'boolean', first: 'TaskInfo[]' }],
  'operation start': ['one', { 'id?': 'string', count: 'number' }, 'Operation'],
  'operation list': ['many', 'Operation'],
  'operation get': ['one', 'Operation'],
  'operation cancel': ['one', accepted],
  'node list': ['many', 'Nodes.nodes[]'],
  stats: ['one', 'Counts'],
  'workflow list': ['many', 'Workflows.workflows[]'],
  'agent list': ['many', 'Agents.agents[]'],
  'lock list': ['many', 'Locks.locks[]'],
  'leader list': ['many', 'Leaders.leaders[]'],
  'rate-limit list': ['many', 'RateLimit'],
  'rate-limit change': rate,
  'rate-limit lift': rate,
  'rate-limit restore': rate,
  demand: [
    'many',
    {
      ...{ kind: 'string', name: 'string', waiting: 'number', 'truncated?': 'boolean', 'since?': 'Instant' },
      ...{ running: 'number', has: 'any', wanted: 'any', 'held?': 'any', 'pools?': 'any' },
    },
  ],
  'breaker list': ['many', 'Breaker'],
  'breaker get': breaker,
  'breaker open': breaker,
  'breaker close': breaker,
  'breaker reset': breaker,
  'setting list': ['many', 'Setting'],
  'setting get': setting,
  'setting set': setting,
  'setting rollout': setting,
  'setting rollback': setting,
  'setting history': ['many', 'SettingHistory.changes[]'],
  'setting diff': ['many', { property: 'string', 'before?': 'any', 'after?': 'any' }],
  'secret rotate': ['one', 'RotatedSecret'],
  'key list': ['many', 'Key'],
  'key get': ['one', 'Key'],
  'key create': ['one', 'IssuedKey'],
  'key rotate': ['one', 'IssuedKey'],
  'key revoke': ['one', 'Key'],
  'alert list': ['many', 'Alert'],
  'alert get': alert,
  'alert acknowledge': alert,
  'alert silence': alert,
  'alert end': alert,
  'alert test': ['many', 'AlertTrials.sinks[]'],
  statistics: ['one', 'Figures'],
  recount: ['one', { recount: 'string' }],
  audit: ['many', 'AuditPage.entries[]'],
  'cache invalidate': ['one', { invalidated: 'any' }],
  'profile list': ['many', profile],
  'profile set': ['one', profile],
  'profile use': ['one', profile],
  'profile remove': ['one', profile],
  'migrate status': ['many', { name: 'string' }],
  'migrate check': ['one', { pending: 'string[]' }],
  'migrate up': ['one', { done: 'string[]' }],
  doctor: ['many', { check: 'string', verdict: 'string', found: 'string', 'advice?': 'string' }],
  health: ['many', 'Health.checks[]'],
  'probe list': ['many', 'ProbedEndpoint'],
  'probe history': ['many', 'ProbeResult'],
  export: [
    'none',
    'it writes a file of a format of its own, for `import` and `replay`; with `--filter` and `--output`, how many tasks: `{ tasks: number }`',
  ],
  import: ['many', result],
  replay: ['one', { workflow: 'string', version: 'string', decisions: 'number', 'error?': 'any' }],
  start: ['none', endless],
  dev: ['none', endless],
  top: ['none', 'it is for people: it refuses `--json`'],
  completion: ['none', 'it is a program for a shell'],
}
