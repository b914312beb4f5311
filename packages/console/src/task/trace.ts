const template = document.querySelector<HTMLMetaElement>('meta[name="triarch-trace"]')?.content ?? ''

/** Where the trace of a task is, by the W3C trace context that it was submitted with; null: nobody has said where, or it has none. */
export function traceUrlOf({ traceparent }: Readonly<Record<string, string>>): string | null {
  const id = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(traceparent ?? '')?.[1]
  return template === '' || id === undefined ? null : template.replaceAll('{traceId}', id)
}
