import { taskPath } from '../part/link.tsx'
import { go, urlOf } from '../shell/place.ts'
import { t } from '../shell/preference.ts'
import type { Graph, Spot } from './graph.ts'

/** Of a box, and between two (px). */
const WIDE = 190
const HIGH = 30
const ASIDE = 150
const BELOW = 22
/** Letters that a box and a line have room for. */
const LONGEST = 24
const LONGEST_LOCK = 20

const left = ({ column }: Spot) => column * (WIDE + ASIDE) + 1
const top = ({ row }: Spot) => row * (HIGH + BELOW) + 1

/** Boxes for tasks, and from each that waits a line to the one that has what it waits for. */
export function Picture({ of: { spots, waits } }: { of: Graph }) {
  const at = new Map(spots.map((it): [string, Spot] => [it.task, it]))
  const width = Math.max(...spots.map(left)) + WIDE + 2
  const height = Math.max(...spots.map(top)) + HIGH + 2
  return (
    <section class="picture" aria-label={t().holding.graph} tabIndex={0}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group">
        <title>{t().holding.graph}</title>
        {waits.map(({ from, to, lock, isInCycle }) => {
          const [one, other] = [at.get(from), at.get(to)]
          if (!one || !other) return null
          const start = { x: left(one), y: top(one) + HIGH / 2 }
          const end = { x: left(other) + WIDE, y: top(other) + HIGH / 2 }
          const bend = ASIDE / 2
          return (
            <g key={`${from} ${lock}`} class={isInCycle ? 'wait cycle' : 'wait'}>
              <title>{`${from} → ${lock} → ${to}`}</title>
              <path
                d={`M${start.x} ${start.y}C${start.x - bend} ${start.y} ${end.x + bend} ${end.y} ${end.x + 7} ${end.y}`}
              />
              <path class="head" d={`M${end.x} ${end.y}l8 -4v8z`} />
              <text x={(start.x + end.x) / 2} y={(start.y + end.y) / 2 - 5} text-anchor="middle">
                {short(lock, LONGEST_LOCK)}
              </text>
            </g>
          )
        })}
        {spots.map((spot) => (
          <a
            key={spot.task}
            href={urlOf(taskPath(spot.task))}
            class={spot.isInCycle ? 'spot cycle' : 'spot'}
            onClick={(event: MouseEvent) => {
              if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
              event.preventDefault()
              go(taskPath(spot.task))
            }}
          >
            <title>{spot.task}</title>
            <rect x={left(spot)} y={top(spot)} width={WIDE} height={HIGH} rx={6} />
            <text x={left(spot) + 10} y={top(spot) + 20}>
              {short(spot.task, LONGEST)}
            </text>
          </a>
        ))}
      </svg>
    </section>
  )
}

function short(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}
