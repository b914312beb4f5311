import type { Api } from '../../api/client.ts'
import { Value } from '../../part/json.tsx'
import { t } from '../../shell/preference.ts'
import { Fact } from '../step.tsx'

type PlannedStep = NonNullable<Api['Plan']['plan']>['steps'][number]

/** A step that nobody has asked for yet: what it will be given, and what happens if it fails. */
export function Planned({ of: { action, phase, input, after, within, rescue } }: { of: PlannedStep }) {
  if (action === null) return null
  const words = t().graph.planned
  return (
    <>
      <p class="note">{words.foreseen}</p>
      <dl class="facts">
        <Fact name={t().action}>{action}</Fact>
        {within.length > 0 && <Fact name={words.within}>{within.join(' / ')}</Fact>}
        {after.length > 0 && <Fact name={phase === 'run' ? t().graph.after : words.finalizes}>{after.join(', ')}</Fact>}
        <Fact name={words.rescue}>{words.rescues[rescue] ?? rescue}</Fact>
      </dl>
      {phase === 'run' && (
        <>
          <h4>{t().input}</h4>
          <Value of={input} label={t().input} />
          {JSON.stringify(input).includes('"$ref"') && <p class="note">{words.references}</p>}
        </>
      )}
    </>
  )
}
