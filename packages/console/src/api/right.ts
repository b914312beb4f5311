import type { Api } from './client.ts'
import { useQuery } from './query.ts'

export type Right = Api['Principal']['rights'][number]

/** Whether who asks may do that; true until the server has said so: it is refused there in any case. */
export function useRight(right: Right): boolean {
  const principal = useQuery<Api['Principal']>('/principal', null, { once: true })
  return principal.value?.rights.includes(right) ?? true
}
