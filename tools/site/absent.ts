/** Something that Triarch does not have, and that pages say so of. */
export interface Absent {
  what: string
  /** How a page says it: the item of a list, or the row of a table. */
  said: RegExp
  /** What the public API, a command or a package would be called if it was there; null: no name would show it. */
  sign: RegExp | null
}

/**
 * What Triarch does not have. The pages say of each that it is not there, and of nothing else (`tools/site/test/absent.test.ts`); and nothing in the public API
 * is called as it would be. Whoever adds one of these takes it out of this list and of the pages.
 */
export const absent: readonly Absent[] = [
  {
    what: 'a server to run, or one that somebody else runs',
    said: /^Temporal Service|^Inngest server|managed service/,
    sign: null,
  },
  {
    what: 'events that trigger whoever subscribes',
    said: /^event that triggers|^Events as a log|Publish and subscribe/,
    sign: /\bpublish\(|\bsubscribeTo|\bEventBus/i,
  },
  { what: 'debouncing', said: /debounc/i, sign: /debounc/i },
  {
    what: 'dropping or batching what comes too often',
    said: /drops runs|batching of events/,
    sign: /\bbatchEvents|\bdropRuns/i,
  },
  { what: 'last in, first out', said: /LIFO/, sign: /\blifo\b/i },
  { what: 'tasks that may be lost', said: /^Little work for little jobs/, sign: /\bvolatile|\bephemeral|\bunlogged/i },
  {
    what: 'changing the input or priority of a waiting task',
    said: /^Changing a job/,
    sign: /\bsetPriority|\bsetInput|\breprioriti/i,
  },
  {
    what: 'workflows in other languages',
    said: /^Other languages/,
    sign: /packages\/(?:python|go|java|ruby|rust|elixir)\b/,
  },
  { what: 'submitting by plain SQL', said: /from plain SQL/, sign: /\bsubmitSql|\bsqlFunctions?\b/i },
  {
    what: 'streams of a task',
    said: /writeStream|^Streams|^Output in chunks|^Realtime channels/,
    sign: /\bwriteStream|\breadStream|\bstreams?\(|\bappendChunk/i,
  },
  { what: 'a fork of a task', said: /^Fork/, sign: /\bfork\w*\(/i },
  {
    what: 'updates and queries of running code',
    said: /^Updates?\b/,
    sign: /\bupdate\(|\bquery\(|\bdefineQuery|\bUpdateOptions\b/,
  },
  {
    what: 'cancellation of less than a task',
    said: /^Cancellation scopes|^Cancelling a single step/,
    sign: /\bCancellationScope|\bcancelStep|\bcancelScope/i,
  },
  { what: 'a rate of a batch', said: /^Distribution over time/, sign: /\bBatchRate|\bspreadOver/i },
  {
    what: 'deleting a task by hand',
    said: /^Deleting by hand/,
    sign: /\bdeleteTask|\bpurge\(/,
  },
  { what: 'lists in the order of any column', said: /^Searching/, sign: /\bsortBy|\borderBy/i },
  { what: 'search attributes of all types', said: /^Search attributes/, sign: /\bsearchAttribute/i },
  { what: 'an adapter to StatsD', said: /StatsD/, sign: /statsd/i },
  { what: 'frameworks of other languages', said: /^ActiveJob/, sign: /activejob/i },
  { what: 'presentation of what an action planned', said: /^Presentation of what/, sign: /\bpresentPlan/i },
  {
    what: 'middleware around the finalize phase',
    said: /^Middleware around the whole finalize/,
    sign: /\baroundFinalize|\bfinalizePhase/i,
  },
  {
    what: 'running without a process that lives',
    said: /^Serverless and edge/,
    sign: /\bserverless|\blambdaHandler|\bserve\(/i,
  },
  { what: 'helpers for AI', said: /AI helpers/, sign: /packages\/ai\b/ },
  {
    what: 'ramps between versions, Nexus, replication between regions',
    said: /^Worker versioning/,
    sign: /\bramp|\bnexus\b|\bmultiRegion/i,
  },
  {
    what: 'large payloads by reference',
    said: /^Claim check/,
    sign: /\bblobStore|\bBlobRef|\bvaletKey|packages\/(?:s3|azure)\b/i,
  },
  { what: 'pipelines', said: /^Pipes and filters/, sign: /\bpipeline\(/i },
  { what: 'several stores as one', said: /^Sharding/, sign: /\bshard|\bcells?\(/i },
  { what: 'a gateway without keys', said: /^Gatekeeper/, sign: /\bcreateGateway|packages\/gateway\b/i },
  { what: 'years in production', said: /^Years in production/, sign: null },
]
