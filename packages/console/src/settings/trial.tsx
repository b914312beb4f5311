import { type Api, text } from '../api/client.ts'
import { Value } from '../part/json.tsx'
import { Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'
import { Act } from './deeds.tsx'
import { Differences } from './versions.tsx'

/** A value that some nodes try: how far it is, what takes it back, and how it goes on. */
export function Trial({ of, mayWrite, reload }: { of: Api['Setting']; mayWrite: boolean; reload: () => void }) {
  const { trial, nodes, live } = of
  if (!trial) return null
  const trying = nodes.filter(({ expected }) => expected === trial.version)
  const running = trying.filter(({ version }) => version === trial.version)
  return (
    <section class="why paused" aria-label={t().setting.onTrial}>
      <h2>{t().setting.onTrial}</h2>
      <ul>
        <li>
          <span>
            {t().setting.stageOf(trial.stage, trial.stages)} · {t().setting.nodesTry(running.length, trying.length)} ·{' '}
            {trial.actor}: {trial.reason}
          </span>
          <span class="ways">
            <Act act="advance" of={of} mayWrite={mayWrite} reload={reload} />
            <Act act="everywhere" of={of} mayWrite={mayWrite} reload={reload} />
            <Act act="rollback" of={of} mayWrite={mayWrite} reload={reload} />
          </span>
        </li>
      </ul>
      <p class="note">
        {t().since} <Time at={trial.since} />
        {trial.until !== undefined && (
          <>
            {' · '}
            {t().setting.nextStage} <Time at={trial.until} />
          </>
        )}
        {trial.guards.map((guard) => (
          <span key={text(guard)}> · {t().setting.guard(guard)}</span>
        ))}
      </p>
      <Differences before={live?.value} after={trial.value} label={t().setting.trialChanges} />
      <details>
        <summary>{t().setting.whole}</summary>
        <Value of={trial.value} label={t().setting.whole} />
      </details>
    </section>
  )
}
