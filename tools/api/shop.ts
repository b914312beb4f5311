// The shop in which all examples of the docs are at home: what they name without saying where it comes from.

/** What an example may name, as the compiler needs it. */
const goods: Readonly<Record<string, string>> = {
  triarch: 'declare const triarch: Triarch',
  client: 'declare const client: TriarchClient',
  task: 'declare const task: TaskHandle<{ receipt: string }>',
  step: 'declare const step: StepContext',
  plan: 'declare const plan: PlanContext',
  schedule: 'declare const schedule: ScheduleHandle',
  server: 'declare const server: TriarchServer',
  otel: 'declare const otel: OpenTelemetry',
  prom: 'declare const prom: Prometheus',
  prober: 'declare const prober: Prober',
  engine: 'declare const engine: TestEngine',
  environment: 'declare const environment: VirtualEnvironment',
  payments: 'declare const payments: Agent',
  charge: 'declare const charge: Action<{ id: string; amount: number }, { id: string }>',
  ship: 'declare const ship: Action<{ id: string; charge: string }, { parcel: string }>',
  fulfil: 'declare const fulfil: Workflow<{ id: string; amount: number }, { receipt: string }>',
  order: 'declare const order: { id: string; amount: number }',
  token: 'declare const token: string',
  secret: 'declare const secret: string',
  exported: 'declare const exported: TaskExport',
  session: 'declare const session: string',
  attempt: 'declare const attempt: string',
  request: 'declare const request: AgentRequest',
  agents: 'declare const agents: RemoteAgents',
  connection: 'declare const connection: ConnectedAgents',
  operation: 'declare const operation: OperationOrder',
  limits: 'declare const limits: Setting<{ amount: number; perNode: number }>',
  schema: 'declare const schema: StandardSchema<{ amount: number; perNode: number }>',
  key: 'declare const key: Uint8Array',
  pages: 'declare const pages: readonly string[]',
  api: `declare const api: {
  charge(order: { amount: number }, key?: string): Promise<{ id: string }>
  refund(id: string, key?: string): Promise<void>
  orders(date: string, offset: number, limit: number): Promise<{ id: string; amount: number }[]>
  rate(currency: string): Promise<number>
  send(page: string, signal: AbortSignal): Promise<void>
  render(page: string, key: string): Promise<string>
  job(id: string): Promise<{ state: 'running' | 'done' }>
}`,
}

/** Exports whose examples stand inside of a workflow. */
const inside: readonly string[] = [
  ...['TaskContext', 'Lock', 'StepFailedError', 'SignalTimeoutError', 'ChildFailedError'],
  ...['CheckedSignalOptions', 'ChildOptions', 'LocalStepOptions', 'LockOptions', 'StepOptions', 'TransactionOptions'],
  ...['UndoOptions', 'WaitForSignalOptions', 'BatchResult', 'SqliteTransaction', 'PostgresTransaction'],
]

/** Where an export is imported from, and whether as a type. */
export interface Home {
  entry: string
  typeOnly: boolean
}

/** The imports and declarations that an example needs. */
export function preambleOf(code: string, owner: string, homes: ReadonlyMap<string, Home>): string[] {
  const own = declaredIn(code)
  const named = wordsOf(code).difference(own)
  const shop = Object.keys(goods).filter((name) => named.has(name))
  const lines = shop.map((name) =>
    name === 'task' && inside.includes(owner) ? 'declare const task: TaskContext' : (goods[name] as string),
  )
  const wanted = wordsOf(lines.join('\n')).union(named).difference(own).difference(new Set(shop))
  const imports = new Map<string, string[]>()
  for (const name of [...wanted].sort()) {
    const home = homes.get(name)
    if (home) imports.set(home.entry, [...(imports.get(home.entry) ?? []), home.typeOnly ? `type ${name}` : name])
  }
  return [...[...imports].map(([home, names]) => `import { ${names.join(', ')} } from '${home}'`), ...lines]
}

/** Names that stand for themselves: no parts of others, no words of a string. */
function wordsOf(code: string): Set<string> {
  const bare = code.replace(/'[^'\n]*'/g, "''").replaceAll('...', ' ')
  return new Set([...bare.matchAll(/(?<![\w.])[A-Za-z_]\w*/g)].map(([word]) => word))
}

function declaredIn(code: string): Set<string> {
  const patterns = code.matchAll(/\b(?:const|let|using|import)\s+(\w+|\{[^}]*\}|\[[^\]]*\])/g)
  return new Set([...patterns].flatMap(([, pattern = '']) => pattern.match(/\w+/g) ?? []))
}
