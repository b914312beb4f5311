/** One small change to one file: the text from `start` to `end` is replaced. */
export interface Mutant {
  /** Stable as long as the code around it is: file, function, what is done, to what, and the n-th of its kind there. */
  key: string
  /** Relative to the root of the repository. */
  file: string
  line: number
  start: number
  end: number
  text: string
}

/** The source with the mutant's change. */
export function mutate(source: string, { start, end, text }: Mutant): string {
  return source.slice(0, start) + text + source.slice(end)
}
