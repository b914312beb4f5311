import { signal } from '@preact/signals'

/** Keys of the page that is shown; true: it took the key. */
export const ownKeys = signal<((key: string) => boolean) | null>(null)
