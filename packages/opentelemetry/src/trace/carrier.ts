// What a task's metadata says of its trace: the W3C headers, whatever propagator the process has for its requests.
import {
  type Baggage,
  baggageEntryMetadataFromString,
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type SpanContext,
  TraceFlags,
  trace,
} from '@opentelemetry/api'

type Metadata = Readonly<Record<string, string>>

/** Characters of baggage that travel with a task; entries beyond are left behind. */
export const MOST_BAGGAGE = 4_096
/** Entries that the metadata of a task may have; a task's own come before ours. */
const MOST_ENTRIES = 32
/** Characters of a trace state, as the W3C has it. */
const MOST_STATE = 512

/** Null: this is none. */
export function parseTraceparent(text: string | null | undefined): SpanContext | null {
  const match = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/.exec(text ?? '')
  const [, traceId = '', spanId = '', flags = ''] = match ?? []
  const found = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true }
  return match && isSpanContextValid(found) ? found : null
}

/** What the metadata carries: a span of elsewhere, and the baggage unless `base` has some. Without: the base. */
export function carried(metadata: Metadata, base: Context = ROOT_CONTEXT): Context {
  const found = parseTraceparent(metadata.traceparent)
  const state = metadata.tracestate
  const span = found && { ...found, ...(state !== undefined && { traceState: createTraceState(state) }) }
  const context = span ? trace.setSpanContext(base, span) : base
  if (metadata.baggage === undefined || propagation.getBaggage(base) !== undefined) return context
  return propagation.setBaggage(context, parseBaggage(metadata.baggage))
}

/** Puts the context's span and baggage into the metadata, as far as there is room. */
export function carry(metadata: Record<string, string>, context: Context): void {
  const span = trace.getSpanContext(context)
  const put = (name: string, value: string) => {
    if (value !== '' && (name in metadata || Object.keys(metadata).length < MOST_ENTRIES)) metadata[name] = value
  }
  if (span && isSpanContextValid(span)) {
    const flags = (span.traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0')
    put('traceparent', `00-${span.traceId}-${span.spanId}-${flags}`)
    const state = span.traceState?.serialize() ?? ''
    // A state of the span before would be of another trace.
    if (state.length > MOST_STATE || state === '') delete metadata.tracestate
    else put('tracestate', state)
  }
  const baggage = propagation.getBaggage(context)
  if (baggage) put('baggage', formatBaggage(baggage))
}

/**
 * The span and the baggage that are active, as headers of the W3C: for `connect()`, so that what is submitted to a server goes on in this
 * trace.
 * @example
 * const client = connect('https://tasks.example.com', { headers: traceHeaders })
 */
export function traceHeaders(): Record<string, string> {
  const headers: Record<string, string> = {}
  carry(headers, context.active())
  return headers
}

function formatBaggage(baggage: Baggage): string {
  let text = ''
  for (const [name, { value, metadata }] of baggage.getAllEntries()) {
    const more = metadata ? `;${metadata.toString()}` : ''
    const entry = `${encodeURIComponent(name)}=${encodeURIComponent(value)}${more}`
    const longer = text === '' ? entry : `${text},${entry}`
    if (longer.length <= MOST_BAGGAGE) text = longer
  }
  return text
}

function parseBaggage(text: string): Baggage {
  const entries = text.split(',').flatMap((entry) => {
    const [, name = '', value = '', more] = /^\s*([^=;\s]+)\s*=\s*([^;]*?)\s*(?:;(.*))?$/.exec(entry) ?? []
    const metadata = more === undefined ? {} : { metadata: baggageEntryMetadataFromString(more) }
    const decodedName = decoded(name)
    return name === '' ? [] : [[decodedName, { value: decoded(value), ...metadata }] as const]
  })
  return propagation.createBaggage(Object.fromEntries(entries))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
