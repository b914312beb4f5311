import type { Breaker } from '../api/types.ts'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { span, Time } from '../part/time.tsx'
import { locale, t } from '../shell/preference.ts'
import { percent } from '../statistics/table.tsx'
import { Force } from './force.tsx'

type BreakerChange = Breaker['changes'][number]

/** One circuit breaker: what it saw, how it tries the service again, and how it came to be as it is. */
export function BreakerPart({ of, may, reload }: { of: Breaker; may: boolean; reload: () => void }) {
  const changes: Column<BreakerChange>[] = [
    { title: t().at, cell: ({ at }) => <Time at={at} /> },
    { title: t().past.became, cell: ({ to }) => <State of={to} /> },
    { title: t().past.was, cell: ({ from }) => <State of={from} /> },
    { title: t().reason, cell: ({ reason }) => reason },
    { title: t().who, cell: ({ actor }) => <span class="faint clip">{actor}</span> },
  ]
  return (
    <section class="breaker" aria-label={`${t().breaker} ${of.name}`}>
      <div class="heading">
        <h2>
          {t().breaker} {of.name} <State of={of.state} />
        </h2>
        <Force breaker={of} may={may} reload={reload} />
      </div>
      <dl class="facts">
        <Fact name={t().since}>
          <Time at={of.since} />
        </Fact>
        {of.state === 'open' && (
          <Fact name={t().nextProbe}>
            {of.idle ? t().hosting.nextStep : of.nextProbe ? <Time at={of.nextProbe} /> : t().hosting.byHand}
          </Fact>
        )}
        {of.streak > 0 && <Fact name={t().hosting.inARow}>{t().hosting.streak(of.streak)}</Fact>}
        <Fact name={t().waiting}>{of.waiting.toLocaleString(locale())}</Fact>
      </dl>
      {of.wave ? <Wave of={of} wave={of.wave} /> : <Seen of={of} />}
      <Rule of={of.rule} />
      <h3>{t().hosting.changes}</h3>
      {of.changes.length === 0 ? (
        <p class="note">{t().hosting.noChanges}</p>
      ) : (
        <Table
          label={t().hosting.changes}
          rows={of.changes.toReversed()}
          columns={changes}
          keyOf={({ at, to }) => `${at} ${to}`}
        />
      )}
    </section>
  )
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** What the window holds. */
function Seen({ of: { seen, rule } }: { of: Breaker }) {
  const well = seen.answers - Math.max(seen.ill, seen.slow)
  return (
    <Parts
      title={`${t().hosting.window} (${span(rule.window)})`}
      said={[
        `${seen.answers.toLocaleString(locale())} ${t().hosting.answers}`,
        `${seen.ill.toLocaleString(locale())} ${t().hosting.ill}`,
        ...(rule.slowerThan === null ? [] : [`${seen.slow.toLocaleString(locale())} ${t().hosting.slow}`]),
      ].join(', ')}
      whole={Math.max(seen.answers, rule.minimum)}
      parts={[
        { tone: 'bad', size: seen.ill },
        { tone: 'wait', size: Math.max(0, seen.slow - seen.ill) },
        { tone: 'good', size: well },
      ]}
    />
  )
}

/** How far those attempts are that were let go. */
function Wave({ of: { state }, wave }: { of: Breaker; wave: NonNullable<Breaker['wave']> }) {
  const { size, given, seen } = wave
  return (
    <Parts
      title={state === 'half-open' ? t().hosting.probes : t().hosting.wave(wave.number)}
      said={t().hosting.waveOf(size, given, seen.answers, seen.ill)}
      whole={size}
      parts={[
        { tone: 'bad', size: seen.ill },
        { tone: 'good', size: seen.answers - seen.ill },
        { tone: 'run', size: given - seen.answers },
      ]}
    />
  )
}

function Parts({
  title,
  said,
  whole,
  parts,
}: {
  title: string
  said: string
  whole: number
  parts: readonly { tone: string; size: number }[]
}) {
  let from = 0
  return (
    <div class="parts">
      <p>
        <strong>{title}</strong> <span class="faint">{said}</span>
      </p>
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(({ tone, size }) => {
          const [x, width] = [from, (size / whole) * 100]
          from += width
          return width > 0 && <rect key={tone} class={tone} x={x} y={0} width={width} height={1} />
        })}
      </svg>
    </div>
  )
}

function Rule({ of }: { of: Breaker['rule'] }) {
  return (
    <p class="note">
      {t().hosting.opensWhen(percent(of.failureRate), of.minimum, span(of.window))}{' '}
      {of.slowRate !== null &&
        of.slowerThan !== null &&
        t().hosting.slowWhen(percent(of.slowRate), span(of.slowerThan))}{' '}
      {t().hosting.staysOpen(span(of.open), span(of.openMax), of.probes)}
    </p>
  )
}
