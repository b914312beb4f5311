import { programs } from '../../scripts/debian.ts'

const INSTALL = 'apt-get install -y --no-install-recommends prometheus'

/** Where `promtool` and `prometheus` are. Never skipped: without them their tests show nothing. */
export function prometheusFolder(): string {
  const at = programs(['promtool', 'prometheus'], ['prometheus'])
  if (at === null) throw new Error(`there is no promtool and no prometheus: ${INSTALL}`)
  return at
}
