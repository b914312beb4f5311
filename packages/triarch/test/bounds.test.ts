import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/**
 * What pages say of bounds, and where the code has them: each `#` of the page is a number (with its unit), and equals the `#` of the source in
 * the same place. Of a page that says a number twice, both are here.
 */
const said: readonly [page: string, text: string, source: string, code: string][] = [
  ['concepts/adaptive-concurrency.md', 'in one process: 1 to # |', 'triarch/src/definition/concurrency.ts', 'MOST = #'],
  ['concepts/adaptive-concurrency.md', 'After # to', 'triarch/src/flow/adaptive-concurrency.ts', 'SMALLEST = #'],
  [
    'concepts/adaptive-concurrency.md',
    ' to # attempts it decides',
    'triarch/src/flow/adaptive-concurrency.ts',
    'LARGEST = #',
  ],
  ['concepts/alerts.md', 'has the first # of them', 'triarch/src/alert/gathering.ts', 'NAMED = #'],
  ['concepts/alerts.md', 'of the answer # are read', 'server/src/sink/webhook.ts', 'BYTES = #'],
  ['concepts/audit.md', 'the first # characters of the reason', 'triarch/src/client/act.ts', 'LONGEST_REASON = #'],
  [
    'concepts/batches.md',
    '| # | children started and not ended, at most; up to #',
    'triarch/src/definition/batching.ts',
    'concurrency ?? #, 1, #)',
  ],
  [
    'concepts/batches.md',
    '| # | inputs asked for at a time; up to #',
    'triarch/src/definition/batching.ts',
    'page ?? #, 1, #)',
  ],
  ['concepts/cache.md', 'holds: # answers', 'triarch/src/node/cache.ts', 'entries ?? #,'],
  ['concepts/cache.md', 'answers, # |', 'triarch/src/node/cache.ts', 'bytes ?? #,'],
  ['concepts/cancelling.md', '`reason` (# characters)', 'triarch/src/definition/control.ts', 'LONGEST_REASON = #'],
  ['concepts/cancelling.md', '`actor` (#)', 'triarch/src/definition/control.ts', 'LONGEST_ACTOR = #'],
  [
    'concepts/circuit-breaker.md',
    'A key is a string of 1 to # characters',
    'triarch/src/flow/queue-key.ts',
    'LONGEST_KEY = #',
  ],
  ['concepts/cli.md', 'of # characters or more', 'cli/src/serving.ts', 'SHORTEST = #'],
  ['concepts/cli.md', 'of the newest #)', 'cli/src/top/snapshot.ts', 'NEWEST = #'],
  ['concepts/cli.md', 'history has # at most', 'triarch/src/client/import.ts', 'MOST_BYTES = #'],
  ['concepts/client.md', '`answerBytes` | # |', 'client/src/options.ts', 'answerBytes = #,'],
  ['concepts/console.md', 'The first # change as you look', 'console/src/tasks/tasks.tsx', 'LIMIT = #'],
  ['concepts/console.md', 'in full (# steps at most)', 'console/src/task/report.tsx', 'MOST_STEPS = #'],
  ['concepts/console.md', 'schedules show the first #,', 'console/src/schedules/schedules.tsx', '/schedules?limit=#'],
  ['concepts/console.md', 'rate limits the first #,', 'console/src/agents/agent.tsx', '/rate-limits?limit=#'],
  ['concepts/console.md', 'of operations the last #,', 'console/src/operations/operations.tsx', '/operations?limit=#'],
  ['concepts/health.md', 'the first # do not have', 'server/src/probe/probe.ts', 'BODY = #'],
  ['concepts/keys.md', 'and # characters that nobody can guess', 'triarch/src/value/key.ts', '{#})$/'],
  ['concepts/keys.md', 'a day; at most #)', 'triarch/src/client/stored-key.ts', 'LONGEST_OVERLAP = # * 86_400_000'],
  ['concepts/keys.md', '# keys (`TOO_MANY_KEYS`)', 'triarch/src/client/stored-key.ts', 'MOST_KEYS = #'],
  [
    'concepts/leader-election.md',
    'Names are strings of 1 to # characters',
    'triarch/src/node/candidate.ts',
    'LONGEST_NAME = #',
  ],
  ['concepts/limits.md', '| `payload` | # bytes', 'triarch/src/value/payload.ts', 'DEFAULT_PAYLOAD_LIMIT: number = #'],
  ['concepts/limits.md', '| `history` | # events', 'triarch/src/node/options.ts', "bound('history', #)"],
  ['concepts/limits.md', '| `historyBytes` | # bytes', 'triarch/src/node/options.ts', "bound('historyBytes', #)"],
  ['concepts/limits.md', '| `fanOut` | # steps', 'triarch/src/node/options.ts', "bound('fanOut', #)"],
  ['concepts/limits.md', '| `inbox` | # [signals]', 'triarch/src/node/options.ts', "bound('inbox', #)"],
  [
    'concepts/limits.md',
    '| `inboxBytes` | #, and half',
    'triarch/src/node/options.ts',
    "Math.min(bound('inboxBytes', #)",
  ],
  ['concepts/limits.md', '| `planSteps` | # |', 'triarch/src/planning/limits.ts', 'steps: #,'],
  ['concepts/limits.md', '| `planBytes` | # bytes', 'triarch/src/planning/limits.ts', 'bytes: #'],
  ['concepts/limits.md', '| `tasks` | # in memory', 'triarch/src/node/options.ts', "bound('tasks', #)"],
  ['concepts/limits.md', 'agents and actions have # characters', 'triarch/src/value/name.ts', '{1,#}$/'],
  ['concepts/limits.md', 'and locks 200; #\n[tags]', 'triarch/src/value/tag.ts', 'MOST_TAGS = #'],
  ['concepts/limits.md', '# strings and 16', 'triarch/src/value/metadata.ts', 'MOST_ENTRIES = #'],
  ['concepts/limits.md', 'strings and # of [metadata]', 'triarch/src/value/metadata.ts', 'MOST_BYTES = #'],
  ['concepts/limits.md', '; #\n[secret]', 'triarch/src/value/payload.ts', 'MOST_SECRETS = #'],
  ['concepts/limits.md', 'strings and # of them in one payload', 'triarch/src/value/payload.ts', 'LARGEST_SECRETS = #'],
  ['concepts/limits.md', '# tasks to come `after`', 'triarch/src/client/submission.ts', 'MOST_PREDECESSORS = #'],
  ['concepts/limits.md', 'nested # levels at most', 'triarch/src/value/payload.ts', 'DEEPEST = #'],
  ['concepts/limits.md', 'messages and stacks of # characters', 'triarch/src/error/record.ts', 'LONGEST = #'],
  ['concepts/limits.md', '`details` of # levels', 'triarch/src/error/details.ts', 'DEEPEST = #'],
  ['concepts/limits.md', 'levels, # items of each', 'triarch/src/error/details.ts', 'WIDEST = #'],
  ['concepts/limits.md', 'array or object and # characters', 'triarch/src/error/details.ts', 'LONGEST = #'],
  ['concepts/listing.md', '`limit` | 1 to #; 100', 'triarch/src/view/query.ts', "'tasks.list: limit', limit, 1, #)"],
  ['concepts/listing.md', 'found by: up to # of them', 'triarch/src/value/tag.ts', 'MOST_TAGS = #'],
  ['concepts/locks.md', 'A name is a string of 1 to # characters', 'triarch/src/value/text.ts', 'text.length <= #'],
  ['concepts/logs.md', 'message | # characters', 'triarch/src/store/line.ts', 'LONGEST_MESSAGE = #'],
  ['concepts/logs.md', 'fields | # of JSON', 'triarch/src/store/line.ts', 'LARGEST_FIELDS = #'],
  ['concepts/logs.md', 'an attempt | # lines', 'triarch/src/agent/log.ts', ' lines: #,'],
  ['concepts/logs.md', 'lines and # at once, and', 'triarch/src/agent/log.ts', ' bytes: #,'],
  ['concepts/logs.md', 'at once, and # lines', 'triarch/src/agent/log.ts', 'linesPerSecond: #,'],
  ['concepts/logs.md', '20 lines and # more', 'triarch/src/agent/log.ts', 'bytesPerSecond: #,'],
  ['concepts/logs.md', 'lines and # in one turn', 'triarch/src/scheduler/function/log.ts', 'MOST_BYTES = #'],
  ['concepts/logs.md', 'a thread | # lines', 'triarch/src/agent/threads.ts', 'MOST_LINES = #'],
  [
    'concepts/logs.md',
    'a node | # lines and # that wait',
    'triarch/src/agent/logbook.ts',
    'MOST_WAITING = { lines: #, bytes: # }',
  ],
  ['concepts/logs.md', 'to be written; # lines', 'triarch/src/agent/logbook.ts', 'MOST_WRITTEN = #'],
  ['concepts/logs.md', 'the latest # lines, and #;', 'triarch/src/store/log.ts', '{ lines: #, bytes: # }'],
  ['concepts/logs.md', '; # lines wait for it', 'triarch/src/telemetry/logger.ts', 'MOST_WAITING = #'],
  ['concepts/opentelemetry.md', 'up to # characters of it', 'opentelemetry/src/trace/carrier.ts', 'MOST_BAGGAGE = #'],
  [
    'concepts/opentelemetry.md',
    'more than # values all the same',
    'opentelemetry/src/metric/bound.ts',
    'MOST_VALUES = #',
  ],
  ['concepts/payloads.md', 'circles, more than # levels', 'triarch/src/value/payload.ts', 'DEEPEST = #'],
  [
    'concepts/payloads.md',
    'A payload has at most # of JSON',
    'triarch/src/value/payload.ts',
    'DEFAULT_PAYLOAD_LIMIT: number = #',
  ],
  ['concepts/payloads.md', 'lists up to # issues', 'triarch/src/value/schema.ts', 'MOST_ISSUES = #'],
  ['concepts/payloads.md', 'At most # strings', 'triarch/src/value/payload.ts', 'MOST_SECRETS = #'],
  ['concepts/payloads.md', 'strings (#) of one', 'triarch/src/value/payload.ts', 'LARGEST_SECRETS = #'],
  ['concepts/payloads.md', 'A value of # characters or more', 'triarch/src/store/record.ts', 'SMALLEST_REFERRED = #'],
  ['concepts/payloads.md', 'An output of # characters or more', 'triarch/src/store/output.ts', 'LARGE_OUTPUT = #'],
  ['concepts/payloads.md', 'Up to # strings', 'triarch/src/value/metadata.ts', 'MOST_ENTRIES = #'],
  ['concepts/payloads.md', 'strings, # in all', 'triarch/src/value/metadata.ts', 'MOST_BYTES = #'],
  ['concepts/payloads.md', 'what has more than # (`above`)', 'triarch/src/store/codec/compress.ts', 'above ?? #,'],
  ['concepts/plans.md', '\n# steps and', 'triarch/src/planning/limits.ts', 'steps: #,'],
  ['concepts/plans.md', 'steps and # of inputs', 'triarch/src/planning/limits.ts', 'bytes: #'],
  [
    'concepts/push-agents.md',
    "of an answer's body; #. Its",
    'server/src/outbound/outbound.ts',
    'BYTES = { standard: #,',
  ],
  ['concepts/push-agents.md', 'Its headers have # |', 'server/src/outbound/outbound.ts', 'HEADERS = #'],
  ['concepts/queues.md', 'a string of at most # characters', 'triarch/src/definition/fairness.ts', 'LONGEST_KEY = #'],
  ['concepts/queues.md', 'all priorities, up to # of them', 'triarch/src/store/claim.ts', 'MOST_LEVELS = #'],
  ['concepts/rate-limits.md', 'The key has 1 to # characters', 'triarch/src/flow/queue-key.ts', 'LONGEST_KEY = #'],
  ['concepts/rate-limits.md', 'knows # keys at a time', 'triarch/src/flow/keyed-rate-limit.ts', 'MOST_KEYS = #'],
  [
    'concepts/server.md',
    'the number `after`, at most `limit` (1,000) and at most #',
    'triarch/src/view/steps.ts',
    'LARGEST = #',
  ],
  ['concepts/watching.md', 'those after a number, at most `limit` and #', 'triarch/src/view/steps.ts', 'LARGEST = #'],
  [
    'concepts/rate-limits.md',
    'about # keys rest on all nodes',
    'triarch/src/flow/cooldown-sync.ts',
    'MAX_SHARED_KEYS = #',
  ],
  ['concepts/rate-limits.md', 'for # keys at most', 'triarch/src/flow/cooldown.ts', 'MAX_COOLDOWN_KEYS = #'],
  ['concepts/rate-limits.md', 'in each `per`: 1 to # |', 'triarch/src/definition/rate.ts', 'options.limit, 1, #)'],
  ['concepts/rate-limits.md', 'what waits (up to # attempts)', 'triarch/src/policy/rate.ts', 'AHEAD = #'],
  ['concepts/remote-agents.md', 'a request may have (#; `limits.bytes`', 'server/src/options.ts', '\n  bytes: #,'],
  [
    'concepts/schedules.md',
    '`to`, at most #, one after',
    'triarch/src/client/stored-schedule.ts',
    'MOST_BACKFILLED = #',
  ],
  [
    'concepts/schedules.md',
    'by name, up to # a page',
    'triarch/src/client/stored-schedule.ts',
    "'schedules.list: limit', limit, 1, #)",
  ],
  ['concepts/server.md', 'and up to # `tasks`', 'server/src/wire/task.ts', 'MOST_SUBMITTED = #'],
  ['concepts/server.md', '`confirm` (at most #)', 'triarch/src/client/matching.ts', 'MOST_MATCHING = #'],
  ['concepts/server.md', '`bytes` of a body | # |', 'server/src/options.ts', '\n  bytes: #,'],
  [
    'concepts/server.md',
    '`items` of an array or object | #, # |',
    'server/src/options.ts',
    '\n  depth: #,\n  items: #,',
  ],
  ['concepts/server.md', '`url`, characters | # |', 'server/src/options.ts', '\n  url: #,'],
  ['concepts/server.md', '`wait`, ms | # |', 'server/src/options.ts', '\n  wait: #,'],
  ['concepts/server.md', '`waiting`, requests at once | # |', 'server/src/options.ts', '\n  waiting: #,'],
  ['concepts/server.md', 'answered at once, of one caller # |', 'server/src/request/reads.ts', 'MOST_EACH = #'],
  ['concepts/server.md', 'of one caller 4 | # |', 'server/src/options.ts', '\n  reads: #,'],
  ['concepts/server.md', 'not read, of one caller a quarter | # |', 'server/src/options.ts', '\n  held: #,'],
  ['concepts/server.md', 'the right `control` | # |', 'server/src/options.ts', '\n  streams: #,'],
  ['concepts/server.md', 'wait for one client | # |', 'server/src/options.ts', '\n  buffered: #,'],
  ['concepts/server.md', 'no line of a log | # |', 'server/src/options.ts', '\n  stalled: #,'],
  [
    'concepts/server.md',
    '`connections` of `listen()`, WebSockets of one caller a quarter | # |',
    'server/src/options.ts',
    '\n  connections: #,',
  ],
  ['concepts/server.md', '20 seconds and #, a whole', 'server/src/listen.ts', 'maxHeaderSize: #'],
  ['concepts/settings.md', 'a SHA-256, # at most', 'triarch/src/setting/file.ts', 'LARGEST = #'],
  [
    'concepts/shared-concurrency.md',
    'on all nodes together: 1 to # |',
    'triarch/src/definition/concurrency.ts',
    'MOST = #',
  ],
  ['concepts/shared-concurrency.md', 'in one process: 1 to # |', 'triarch/src/definition/concurrency.ts', 'MOST = #'],
  ['concepts/signals.md', 'at most # signals', 'triarch/src/node/options.ts', "bound('inbox', #)"],
  ['concepts/signals.md', 'signals with # in all', 'triarch/src/node/options.ts', "Math.min(bound('inboxBytes', #)"],
  ['concepts/statistics.md', 'by their first # characters', 'triarch/src/statistics/tally.ts', 'LONGEST = #'],
  ['concepts/statistics.md', 'An answer has at most # rows', 'triarch/src/view/figures.ts', 'MOST_ROWS = #'],
  [
    'concepts/statistics.md',
    'looks at # tasks and reads at most # of them, of each # records',
    'triarch/src/supervisor/counting.ts',
    'look: #, limit: #, records: #,',
  ],
  ['concepts/submitting.md', 'An id is a string of 1 to # characters', 'triarch/src/value/text.ts', 'text.length <= #'],
  ['concepts/submitting.md', 'At most # are under way', 'triarch/src/client/many.ts', 'MOST_AT_ONCE = #'],
  ['concepts/submitting.md', 'transactions (up to # in one)', 'triarch/src/store/group.ts', 'LARGEST_BATCH = #'],
  ['concepts/submitting.md', 'these tasks (up to #)', 'triarch/src/client/submission.ts', 'MOST_PREDECESSORS = #'],
  ['concepts/submitting.md', 'or 0 | −# to', 'triarch/src/definition/policy.ts', 'priority, -#, 1_000_000)'],
  ['concepts/submitting.md', ' to #; higher first', 'triarch/src/definition/policy.ts', 'priority, -1_000_000, #)'],
  ['concepts/submitting.md', 'none | up to # strings to [find]', 'triarch/src/value/tag.ts', 'MOST_TAGS = #'],
  ['concepts/submitting.md', 'names up to # characters', 'triarch/src/value/tag.ts', 'the name of a tag`, name, #)'],
  ['concepts/submitting.md', 'values up to # |', 'triarch/src/value/tag.ts', 'value, #)'],
  ['concepts/submitting.md', 'none | up to # strings that', 'triarch/src/value/metadata.ts', 'MOST_ENTRIES = #'],
  ['concepts/suspension.md', 'Up to # `signals`', 'triarch/src/agent/suspension.ts', 'MOST_SIGNALS = #'],
  ['concepts/testing.md', '| 2 | 1 to #, all', 'triarch/src/testing/crash.ts', 'nodes, 1, #)'],
  ['concepts/undo.md', 'the newest # steps', 'triarch/src/kernel/step/carry.ts', 'MOST_CARRIED = #'],
  ['concepts/undo.md', 'with # of inputs and outputs', 'triarch/src/kernel/step/carry.ts', 'MOST_SIZE = #'],
  ['concepts/watching.md', 'list by name, at most # at a time', 'triarch/src/view/inventory.ts', 'MOST = #'],
  ['concepts/workflows.md', 'A name has 1 to # letters', 'triarch/src/value/name.ts', '{1,#}$/'],
  ['concepts/workflows.md', 'at most # events', 'triarch/src/node/options.ts', "bound('history', #)"],
  ['concepts/workflows.md', 'events, # of them', 'triarch/src/node/options.ts', "bound('historyBytes', #)"],
  ['postgres.md', 'drops at most # tasks', 'triarch/src/supervisor/retention.ts', 'LIMIT = #'],
  ['postgres.md', 'and about # records', 'triarch/src/supervisor/retention.ts', 'RECORDS = #'],
  ['protocol.md', '`messages` | at most #,', 'server/src/wire/agent.ts', 'AgentMessageSchema).max(#)'],
  ['protocol.md', 'body has at most #, or', 'server/src/options.ts', '\n  bytes: #,'],
  ['protocol.md', 'no more than # (or #)', 'triarch/src/wire/outbox.ts', 'PAGE = { messages: #, size: # }'],
  ['protocol.md', 'of each attempt # lines', 'triarch/src/agent/log.ts', ' lines: #,'],
  ['protocol.md', 'lines and # at once are kept', 'triarch/src/agent/log.ts', ' bytes: #,'],
  ['protocol.md', 'are kept, and # lines', 'triarch/src/agent/log.ts', 'linesPerSecond: #,'],
  ['protocol.md', '20 lines and # more', 'triarch/src/agent/log.ts', 'bytesPerSecond: #,'],
  ['reference/alerts.md', 'and at most # lines a minute', 'triarch/src/client/warnings.ts', 'MOST = #'],
  ['reference/filter.md', 'to more than # tasks', 'triarch/src/store/listing.ts', 'MAX_ROWS_EXAMINED = #'],
  [
    'reference/filter.md',
    '`tag.NAME:begins*` lead as long as they alone fit at most # tasks',
    'triarch/src/store/listing.ts',
    'MAX_ROWS_EXAMINED = #',
  ],
  ['reference/filter.md', 'after a look at # tasks', 'triarch/src/store/listing.ts', 'MAX_ROWS_EXAMINED = #'],
  [
    'reference/filter.md',
    'well, as long as they alone fit at most # tasks',
    'triarch/src/store/listing.ts',
    'MAX_ROWS_EXAMINED = #',
  ],
  ['reference/filter.md', 'A filter has at most # characters', 'triarch/src/filter/grammar.ts', 'LONGEST = #'],
  ['reference/filter.md', 'characters, # terms', 'triarch/src/filter/grammar.ts', 'MOST_TERMS = #'],
  ['reference/filter.md', 'and # values in a term', 'triarch/src/filter/grammar.ts', 'MOST_VALUES = #'],
  ['reference/metrics.md', 'more than # values of one', 'opentelemetry/src/metric/bound.ts', 'MOST_VALUES = #'],
]

/** Numbers that read like bounds and are none of ours, or of which the code has no constant. */
const others: readonly [page: string, text: string][] = [
  ['concepts/adaptive-concurrency.md', '16 to 21'], // measured: adaptive.test.ts
  ['concepts/deployment.md', '14 to 19'],
  ['concepts/deployment.md', '4 to 7'],
  ['concepts/health.md', '200 to 299'],
  ['concepts/health.md', '(1 GiB)'],
  ['concepts/health.md', '(128 MiB:'],
  ['concepts/logs.md', '998 lines'], // 1,000 with the line that counts others, and the one that it leaves room for
  ['concepts/opentelemetry.md', '60 bytes'],
  ['concepts/payloads.md', '32 bytes'],
  ['concepts/client.md', 'port: 0, signals'],
  ['concepts/circuit-breaker.md', '6 steps'],
  ['concepts/circuit-breaker.md', '1,204 steps'],
  ['concepts/circuit-breaker.md', 'up to 10 seconds'],
  ['concepts/circuit-breaker.md', 'up to 5 minutes'],
  ['concepts/processes.md', '1 to 4'],
  ['concepts/queues.md', '0.01 to 100'],
  ['concepts/rate-limits.md', '2.7 to 5.3'],
  ['concepts/rate-limits.md', '180 to 270'],
  ['concepts/remote-agents.md', '2 to 10'],
  ['concepts/schedules.md', '02:00 to 03:00'],
  ['concepts/statistics.md', 'at most 2,000 rows a round'],
  ['concepts/steps.md', 'up to'],
  ['concepts/steps.md', '13 MiB'],
  ['concepts/steps.md', '256 KiB'],
  ['concepts/suspension.md', '0 to 1'],
  ['concepts/watching.md', '0 to 1'],
  ['postgres.md', '14 to 1'],
  ['postgres.md', 'up to 100 ms'],
  ['postgres.md', '1 GB'],
  ['postgres.md', '80 MB'],
  ['postgres.md', '16 MB'],
  ['protocol.md', '256 KiB, and within'],
  ['protocol.md', 'At most 500 lines'],
]

const units = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }
const number = String.raw`([\d,]*\d(?: (?:KiB|MiB|GiB)\b)?)`
const product = String.raw`([\d_]+(?: \* [\d_]+)*)`
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
const pattern = (text: string, hole: string): RegExp => new RegExp(text.split('#').map(escaped).join(hole), 'd')

function ofPage(text: string): number {
  const [digits = '', unit] = text.split(' ')
  return Number(digits.replaceAll(',', '')) * (unit === undefined ? 1 : units[unit as keyof typeof units])
}

function ofCode(text: string): number {
  return text
    .split('*')
    .map((factor) => Number(factor.trim().replaceAll('_', '')))
    .reduce((one, other) => one * other)
}

describe('a bound that a page says is the one that the code has', () => {
  it.each(said)('%s: %s', (page, text, source, code) => {
    const [, ...ours] = pattern(text, number).exec(read(`docs/${page}`)) ?? []
    const [, ...theirs] = pattern(code, product).exec(read(`packages/${source}`)) ?? []
    expect(ours, `the page does not say: ${text}`).not.toEqual([])
    expect(ours.map(ofPage), `${source}: ${code}`).toEqual(theirs.map(ofCode))
  })
})

const counted = 'bytes|characters|levels|strings|tasks|lines|entries|rows|events|items|signals|keys|inputs|names|steps'
const bound = new RegExp(
  String.raw`(?:at most|up to|no more than|first|newest|latest) (?<most>\d[\d,]*)|(?<much>\d[\d,]*) (?:KiB|KB|MiB|MB|GiB|GB|${counted})\b|\d+ to (?<range>\d[\d,]*)`,
  'dgi',
)

/** Where in the page there are numbers that read like bounds; code is none. */
function boundsOf(text: string): { at: number; said: string }[] {
  const prose = text.replace(/^```.*?^```/gms, (code) => ' '.repeat(code.length))
  return [...prose.matchAll(bound)].map(({ indices, 0: said }) => {
    const { most, much, range } = indices?.groups ?? {}
    return { at: (most ?? much ?? range)?.[0] ?? -1, said: said.replace('\n', ' ') }
  })
}

function spansOf(page: string, text: string): (readonly [number, number])[] {
  const rows = said.filter(([of]) => of === page)
  const spans = rows.flatMap(([, row]) => pattern(row, number).exec(text)?.indices?.slice(1) ?? [])
  const known = spans.filter((span) => span !== undefined)
  const none = others
    .filter(([of]) => of === page)
    .flatMap(([, it]) => {
      const found: (readonly [number, number])[] = []
      for (let at = text.indexOf(it); at >= 0; at = text.indexOf(it, at + 1)) found.push([at, at + it.length + 12])
      return found
    })
  return [...known, ...none]
}

const folder = (name: string): string[] =>
  readdirSync(join(root, 'docs', name))
    .filter((it) => it.endsWith('.md'))
    .map((it) => `${name}/${it}`)
const pages = [...folder('concepts'), ...folder('reference'), 'protocol.md', 'postgres.md']

it.each(pages.filter((page) => !['reference/cli.md'].includes(page)))('no other bound is said in %s', (page) => {
  const text = read(`docs/${page}`)
  const spans = spansOf(page, text)
  expect(boundsOf(text).filter(({ at }) => !spans.some(([from, to]) => at >= from && at < to))).toEqual([])
})
