/** What one look of the doctor came to. */
export interface Finding {
  check: string
  verdict: 'ok' | 'warn' | 'fail'
  found: string
  /** What to do about it. */
  advice?: string
}

export function ok(check: string, found: string): Finding {
  return { check, verdict: 'ok', found }
}

export function warn(check: string, found: string, advice: string): Finding {
  return { check, verdict: 'warn', found, advice }
}

export function fail(check: string, found: string, advice: string): Finding {
  return { check, verdict: 'fail', found, advice }
}
