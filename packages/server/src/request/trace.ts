// Where a request is in a trace, as the W3C has it in headers, and the metadata of a task under the same names.

/** Of the format that is known; those of later versions begin like it. */
const PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]{0,200})?$/
/** Characters of each, as the W3C has it for the state, and as `@triarch/opentelemetry` has it for baggage. */
const MOST_STATE = 512
const MOST_BAGGAGE = 4_096
/** Of all metadata of one task: names, and bytes of names and values. */
const MOST_ENTRIES = 32
const MOST_BYTES = 16_384

type Names = 'traceparent' | 'tracestate' | 'baggage'
export type Trace = Readonly<Partial<Record<Names, string>>>

/** What is said under these names, without what is not as the W3C has it: that is nobody's fault who submits a task. */
export function traceOf(said: (name: Names) => string | null | undefined): Trace {
  const read = (name: Names, most: number) => {
    const text = said(name) ?? ''
    return text !== '' && text.length <= most && /^[\x20-\x7e]*$/.test(text) ? text : undefined
  }
  const traceparent = read('traceparent', 300)
  const isTraced = traceparent !== undefined && PARENT.test(traceparent)
  const tracestate = isTraced ? read('tracestate', MOST_STATE) : undefined
  const baggage = read('baggage', MOST_BAGGAGE)
  return {
    ...(isTraced && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
    ...(baggage !== undefined && { baggage }),
  }
}

/** The metadata of a task that is submitted in this trace. What it says of a trace by itself is not mixed with another, and nothing of its own gives way. */
export function inTrace(
  metadata: Readonly<Record<string, string>> | undefined,
  { traceparent, tracestate, baggage }: Trace,
): Readonly<Record<string, string>> | undefined {
  const own = metadata ?? {}
  const added: Record<string, string> = {}
  let left = MOST_BYTES - Object.entries(own).reduce((sum, entry) => sum + Buffer.byteLength(entry.join('')), 0)
  const add = (name: Names, value: string | undefined) => {
    if (value === undefined || Object.hasOwn(own, name)) return
    left -= name.length + value.length
    if (left >= 0 && Object.keys(own).length + Object.keys(added).length < MOST_ENTRIES) added[name] = value
    else left += name.length + value.length
  }
  if (!Object.hasOwn(own, 'traceparent') && !Object.hasOwn(own, 'tracestate')) {
    add('traceparent', traceparent)
    if (added.traceparent !== undefined) add('tracestate', tracestate)
  }
  add('baggage', baggage)
  return Object.keys(added).length === 0 ? metadata : { ...own, ...added }
}
