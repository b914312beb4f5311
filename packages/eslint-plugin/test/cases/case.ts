// How the cases of the rules are written.

export interface Valid {
  /** What is promised. */
  name: string
  code: string
  options?: unknown[]
}

export interface Invalid extends Valid {
  /** For each complaint a part of its message, in the order of the code. */
  says: readonly string[]
  /** What `--fix` makes of it; null: it stays as it is. */
  fixed?: string
  /** For each complaint, what its suggestions make of it. */
  suggests?: readonly (readonly string[])[]
}

export interface Cases {
  rule: string
  valid: readonly Valid[]
  invalid: readonly Invalid[]
}

/** A file whose workflow has this body. */
export function flow(body: string, head = ''): string {
  return `import { workflow } from 'triarch'
${head}
export const sample = workflow('sample', {
  async run(input, task) {
    ${body}
  },
})
`
}

/** A file whose plan has this body. */
export function planned(body: string, head = ''): string {
  return `import { ref, workflow } from 'triarch'
${head}
export const sample = workflow('sample', {
  plan(input, plan) {
    ${body}
  },
})
`
}
