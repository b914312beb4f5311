import { type Api, post } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { deed } from '../part/asking.tsx'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Link } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { span, Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

type Schedule = Api['Schedule']

const snippet = `await triarch.schedule('nightly').register({ workflow: report, input: {}, cron: '0 3 * * *' })`

/** What is submitted again and again, and when. */
export function Schedules() {
  const schedules = useQuery<Api['SchedulePage']>('/schedules?limit=100')
  const columns: Column<Schedule>[] = [
    { title: t().name, cell: ({ name }) => <strong>{name}</strong> },
    {
      title: t().workflow,
      cell: ({ workflow }) => <Link to={`/tasks?filter=workflow:${workflow}`}>{workflow}</Link>,
    },
    { title: t().rule, cell: ({ recurrence }) => <Rule of={recurrence} /> },
    {
      title: t().status,
      cell: ({ paused, failing }) =>
        paused ? <State of="paused" /> : failing ? <State of="error" /> : <State of="ok" />,
    },
    { title: t().next, cell: ({ next }) => <Time at={next} /> },
    { title: t().last, cell: ({ last }) => <Time at={last} /> },
    { title: t().runs, cell: ({ started, skipped, missed }) => `${started} · ${skipped} · ${missed}`, isNumber: true },
    { title: t().actions, cell: (schedule) => <Ways schedule={schedule} reload={schedules.reload} /> },
  ]
  return (
    <>
      <h1>{t().schedules}</h1>
      {schedules.error && <Failure error={schedules.error} retry={schedules.reload} />}
      {schedules.value?.schedules.length === 0 && <Empty text={t().noSchedules} snippet={snippet} />}
      {schedules.value && schedules.value.schedules.length > 0 && (
        <Table label={t().schedules} rows={schedules.value.schedules} columns={columns} keyOf={({ name }) => name} />
      )}
    </>
  )
}

function Rule({ of }: { of: Schedule['recurrence'] }) {
  return 'cron' in of ? (
    <>
      <code>{of.cron}</code> <span class="faint">{of.timeZone}</span>
    </>
  ) : (
    <span>{t().every(span(of.every))}</span>
  )
}

function Ways({ schedule: { name, paused }, reload }: { schedule: Schedule; reload: () => void }) {
  const act = paused ? 'resume' : 'pause'
  return (
    <button
      type="button"
      class="small"
      onClick={() => {
        deed.value = {
          title: t().act[act],
          will: name,
          act: async ({ reason }) => {
            await post(
              `/schedules/${encodeURIComponent(name)}/${act}`,
              act === 'pause' && reason !== undefined ? { reason } : {},
            )
            reload()
          },
        }
      }}
    >
      {t().act[act]}
    </button>
  )
}
