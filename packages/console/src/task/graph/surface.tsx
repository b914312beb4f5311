import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { shapes } from '../../part/state.tsx'
import { t } from '../../shell/preference.ts'
import { type DrawnEdge, KNOTS, type Picture, type Placed } from './draw.ts'
import { isWayBack } from './standing.ts'
import { centred, fitting, HIGH, isSeen, LEGIBLE, type Size, type Viewport, WIDE, zoomed } from './view.ts'

/** Letters of a name that have room. */
const LETTERS = 19
const STEP = 1.3
/** How high it is: as high as what it shows, within these bounds (px). */
const [ROOM, LOWEST, HIGHEST] = [130, 220, 560]
/** What is moved by less was pressed, not dragged (px). */
const STILL = 4

interface SurfaceProps {
  picture: Picture
  standing: ReadonlyMap<number, string>
  selected: Placed | null
  onSelect: (node: Placed) => void
  onOpen: (node: Placed) => void
  /** Counts of a group, and of the children of a batch. */
  noteOf: (node: Placed) => string
}

/** The picture itself: moved by dragging, made larger and smaller, walked through by the arrow keys. */
export function Surface({ picture, standing, selected, onSelect, onOpen, noteOf }: SurfaceProps) {
  const element = useRef<SVGSVGElement>(null)
  const [size, setSize] = useState<Size>({ width: 0, height: 0 })
  const [view, setView] = useState<Viewport | null>(null)
  const drag = useRef<{ x: number; y: number; view: Viewport; isMoved: boolean } | null>(null)
  useLayoutEffect(() => {
    const it = element.current
    if (!it) return
    const measure = () => setSize({ width: it.clientWidth, height: it.clientHeight })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(it)
    return () => observer.disconnect()
  }, [])
  const shown = view ?? (size.width > 0 ? fitting(picture, size) : null)
  const places = useMemo(() => placesOf(picture), [picture])
  // Who chooses it elsewhere, in the list or by the address, sees it here.
  useEffect(() => {
    if (shown && selected && (!isSeen(shown, size, selected) || shown.scale < LEGIBLE))
      setView(centred(shown, size, selected))
  }, [selected?.id, picture, size.width > 0])
  const zoom = (factor: number, around = { x: size.width / 2, y: size.height / 2 }) =>
    shown && setView(zoomed(shown, factor, around))
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const to = neighbour(picture, selected, event.key)
    if (to) onSelect(to)
    else if (event.key === '+' || event.key === '=') zoom(STEP)
    else if (event.key === '-') zoom(1 / STEP)
    else if (event.key === '0') setView(null)
    else if (event.key === 'Enter' && selected) onOpen(selected)
    else if (!event.key.startsWith('Arrow')) return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div class="surface">
      <svg
        ref={element}
        class={drag.current ? 'moved' : undefined}
        role="application"
        aria-label={t().graph.surface}
        aria-describedby="graph-keys"
        tabindex={0}
        data-nodes={picture.nodes.length}
        style={{ height: `${Math.min(Math.max(picture.height + ROOM, LOWEST), HIGHEST)}px` }}
        onKeyDown={pressed}
        onWheel={(event) => {
          // Without a key, the page goes on as everywhere else.
          if (!event.ctrlKey && !event.metaKey) return
          event.preventDefault()
          const { left, top } = event.currentTarget.getBoundingClientRect()
          zoom(Math.exp(-event.deltaY / 300), { x: event.clientX - left, y: event.clientY - top })
        }}
        onPointerDown={(event) => {
          if (event.button !== 0 || !shown) return
          drag.current = { x: event.clientX, y: event.clientY, view: shown, isMoved: false }
          event.currentTarget.setPointerCapture(event.pointerId)
        }}
        onPointerMove={(event) => {
          const from = drag.current
          if (!from) return
          const [dx, dy] = [event.clientX - from.x, event.clientY - from.y]
          from.isMoved ||= Math.abs(dx) + Math.abs(dy) > STILL
          const { scale } = from.view
          if (from.isMoved) setView({ scale, x: from.view.x - dx / scale, y: from.view.y - dy / scale })
        }}
        onPointerUp={(event) => {
          const from = drag.current
          drag.current = null
          if (!from || from.isMoved || !shown) return
          const { left, top } = event.currentTarget.getBoundingClientRect()
          const point = {
            x: shown.x + (event.clientX - left) / shown.scale,
            y: shown.y + (event.clientY - top) / shown.scale,
          }
          const hit = picture.nodes.find(
            ({ x, y }) => Math.abs(x - point.x) <= WIDE / 2 && Math.abs(y - point.y) <= HIGH / 2,
          )
          if (hit) hit.id === selected?.id ? onOpen(hit) : onSelect(hit)
        }}
        onPointerCancel={() => {
          drag.current = null
        }}
      >
        {shown && (
          <g transform={`scale(${shown.scale}) translate(${-shown.x} ${-shown.y})`}>
            {shown.scale < LEGIBLE ? (
              <Far picture={picture} standing={standing} places={places} />
            ) : (
              <Near {...{ picture, standing, places, selected, noteOf, view: shown, size }} />
            )}
          </g>
        )}
      </svg>
      <p class="buttons">
        {(
          [
            ['+', t().graph.larger, () => zoom(STEP)],
            ['−', t().graph.smaller, () => zoom(1 / STEP)],
            ['⤢', t().graph.all, () => setView(null)],
          ] as const
        ).map(([sign, name, act]) => (
          <button key={sign} type="button" class="small" aria-label={name} title={name} onClick={act}>
            {sign}
          </button>
        ))}
      </p>
    </div>
  )
}

type Places = ReadonlyMap<number, { x: number; y: number; isKnot: boolean }>

function placesOf({ nodes, knots }: Picture): Places {
  const places = new Map(nodes.map(({ id, x, y }) => [id, { x, y, isKnot: false }]))
  for (let at = 0; at < knots.length; at += 2)
    places.set(KNOTS - at / 2, { x: knots[at] ?? 0, y: knots[at + 1] ?? 0, isKnot: true })
  return places
}

/** Marks of one state are one path: however many there are, there are as many elements as states. */
function Far({ picture, standing, places }: { picture: Picture; standing: SurfaceProps['standing']; places: Places }) {
  const lines = useMemo(() => {
    const said = { line: '', loose: '', back: '' }
    for (const line of picture.lines) said[kindOf(line, standing)] += straight(line, places)
    return said
  }, [picture, standing])
  const marks = useMemo(() => {
    const said = new Map<string, string>()
    for (const node of picture.nodes) {
      const state = standing.get(node.id) ?? node.state
      said.set(state, (said.get(state) ?? '') + mark(node, state))
    }
    return [...said]
  }, [picture, standing])
  return (
    <>
      {Object.entries(lines).map(([kind, d]) => (
        <g key={kind} class={`edge far ${kind}`}>
          <path d={d} />
        </g>
      ))}
      {marks.map(([state, d]) => (
        <path key={state} class={`mark ${state}`} d={d} />
      ))}
    </>
  )
}

/** What failed is a rhombus, what has not begun is flat: they can be told apart without colours. */
function mark({ x, y }: Placed, state: string): string {
  const [w, h] = [WIDE / 2, HIGH / 2]
  if (state === 'error') return `M${x - w} ${y}L${x} ${y - h * 1.4}L${x + w} ${y}L${x} ${y + h * 1.4}Z`
  const high = state === 'waiting' || state === 'pending' ? h / 3 : h
  return `M${x - w} ${y - high}h${2 * w}v${2 * high}h${-2 * w}Z`
}

/** Only what is seen is there. */
function Near({
  picture,
  standing,
  places,
  selected,
  noteOf,
  view,
  size,
}: Pick<SurfaceProps, 'picture' | 'standing' | 'selected' | 'noteOf'> & {
  places: Places
  view: Viewport
  size: Size
}) {
  const nodes = picture.nodes.filter((node) => isSeen(view, size, node))
  const seen = new Set(nodes.map(({ id }) => id))
  const touches = (id: number) => {
    if (seen.has(id)) return true
    const place = places.get(id)
    return place?.isKnot === true && isSeen(view, size, place, WIDE)
  }
  const lines = picture.lines.filter(({ from, to, bends }) => {
    if (touches(from) || touches(to)) return true
    for (let at = 0; at < bends.length; at += 2)
      if (isSeen(view, size, { x: bends[at] ?? 0, y: bends[at + 1] ?? 0 })) return true
    return false
  })
  // Lines of one kind are one path, and their heads another.
  const drawn = new Map<string, { way: string; heads: string }>()
  for (const line of lines) {
    const kind = kindOf(line, standing)
    const isChosen = selected !== null && (line.from === selected.id || line.to === selected.id)
    const key = isChosen ? `${kind} chosen` : kind
    const { way, heads } = drawn.get(key) ?? { way: '', heads: '' }
    drawn.set(key, { way: way + curve(line, places), heads: heads + head(line, places, kind === 'back') })
  }
  return (
    <>
      {[...drawn].map(([kind, { way, heads }]) => (
        <g key={kind} class={`edge ${kind}`}>
          <path d={way} />
          <path class="heads" d={heads} />
        </g>
      ))}
      {nodes.map((node) => {
        const state = standing.get(node.id) ?? node.state
        const note = noteOf(node)
        const name = clipped(note === '' ? node.name : `${node.name} ${note}`)
        return (
          <g
            key={node.id}
            class={`node ${state} ${node.kind}${node.group ? ' group' : ''}${node.id === selected?.id ? ' chosen' : ''}`}
            transform={`translate(${node.x - WIDE / 2} ${node.y - HIGH / 2})`}
          >
            <title>{`${node.id > 0 ? `${node.id} ` : ''}${node.name} ${note}`}</title>
            {node.group && <rect x={4} y={-4} width={WIDE} height={HIGH} rx={6} />}
            <rect width={WIDE} height={HIGH} rx={node.kind === 'timer' || node.kind === 'signal' ? HIGH / 2 : 6} />
            {node.kind === 'child' && <rect class="inner" x={3} y={3} width={WIDE - 6} height={HIGH - 6} rx={4} />}
            <text class="glyph" x={16} y={HIGH / 2}>
              {shapes[state] ?? '·'}
            </text>
            <text x={30} y={HIGH / 2}>
              {name}
            </text>
          </g>
        )
      })}
    </>
  )
}

function kindOf(line: DrawnEdge, standing: SurfaceProps['standing']): 'line' | 'loose' | 'back' {
  return isWayBack(line, standing) ? 'back' : line.isLoose ? 'loose' : 'line'
}

function endsOf({ from, to }: DrawnEdge, places: Places) {
  const [left, right] = [places.get(from), places.get(to)]
  const half = (place: typeof left) => (place?.isKnot ? 0 : WIDE / 2)
  return [(left?.x ?? 0) + half(left), left?.y ?? 0, (right?.x ?? 0) - half(right), right?.y ?? 0] as const
}

function straight(line: DrawnEdge, places: Places): string {
  const [x1, y1, x2, y2] = endsOf(line, places)
  let said = `M${x1} ${y1}`
  for (let at = 0; at < line.bends.length; at += 2) said += `L${line.bends[at]} ${line.bends[at + 1]}`
  return `${said}L${x2} ${y2}`
}

/** Leaves to the right, arrives from the left, and is level where it passes a layer. */
function curve(line: DrawnEdge, places: Places): string {
  const [x1, y1, x2, y2] = endsOf(line, places)
  const points = [...line.bends, x2, y2]
  let [x, y] = [x1, y1]
  let said = `M${x} ${y}`
  for (let at = 0; at < points.length; at += 2) {
    const [to, down] = [points[at] ?? 0, points[at + 1] ?? 0]
    const pull = Math.max(Math.abs(to - x) / 2, 20)
    said += `C${x + pull} ${y} ${to - pull} ${down} ${to} ${down}`
    ;[x, y] = [to, down]
  }
  return said
}

/** An arrow where the line ends; on the way back, where it begins. No line ends in a knot. */
function head(line: DrawnEdge, places: Places, isBack: boolean): string {
  const [x1, y1, x2, y2] = endsOf(line, places)
  if (isBack) return places.get(line.from)?.isKnot ? '' : `M${x1} ${y1}l8 -4v8Z`
  return places.get(line.to)?.isKnot ? '' : `M${x2} ${y2}l-8 -4v8Z`
}

/** Where an arrow key leads: along the lines, or to what stands above and below; from nowhere, to the first. */
function neighbour({ nodes }: Picture, selected: Placed | null, key: string): Placed | null {
  if (!['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'].includes(key)) return null
  if (!selected) return nodes[0] ?? null
  if (key === 'ArrowUp' || key === 'ArrowDown') {
    const layer = nodes.filter(({ x, y }) => x === selected.x && (key === 'ArrowUp' ? y < selected.y : y > selected.y))
    return nearest(layer, selected)
  }
  const ids = new Set(key === 'ArrowLeft' ? selected.before : selected.behind)
  return nearest(
    nodes.filter(({ id }) => ids.has(id)),
    selected,
  )
}

function nearest(nodes: readonly Placed[], { x, y }: Placed): Placed | null {
  const far = (it: Placed) => Math.abs(it.y - y) + Math.abs(it.x - x)
  return nodes.reduce<Placed | null>((best, it) => (best === null || far(it) < far(best) ? it : best), null)
}

function clipped(name: string): string {
  return name.length > LETTERS ? `${name.slice(0, LETTERS - 1)}…` : name
}
