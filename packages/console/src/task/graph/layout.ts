// A layered layout, from left to right: what comes after something stands to its right. Pure, and the same for the same graph.

export interface Edge {
  from: number
  to: number
}

export interface Laid {
  /** The middle of each node. */
  x: Float64Array
  y: Float64Array
  /** Of each edge: the points that it goes through between its ends, x and y in turns. */
  bends: readonly (readonly number[])[]
  width: number
  height: number
}

/** From one layer to the next, and between two nodes of a layer (px). */
export const ACROSS = 232
export const DOWN = 46
/** An edge that passes a layer takes less room there. */
const THIN = 14
/** Edges that pass layers are led around what stands there, as long as there are no more places than these. */
const MOST_BENDS = 8_000
/** A picture is wrapped once it is so many times as long as one of this shape (width by height). */
const LONG = 2
const SHAPE = 2
/** Each goes to the right and back. */
const SWEEPS = 4

/** `count` nodes, by index. What goes in a circle is drawn as if the edge that closes it were not there. */
export function layout(count: number, edges: readonly Edge[]): Laid {
  const layerOf = layering(count, edges)
  const passed = edges.reduce((sum, { from, to }) => sum + Math.max(0, at(layerOf, to) - at(layerOf, from) - 1), 0)
  const leads = passed <= MOST_BENDS
  // Nodes, then the places where edges pass.
  const layers = [...layerOf]
  const [left, right]: [number[][], number[][]] = [[], []]
  for (let node = 0; node < count; node++) {
    left.push([])
    right.push([])
  }
  const link = (from: number, to: number) => {
    right[from]?.push(to)
    left[to]?.push(from)
  }
  const through = edges.map(({ from, to }) => {
    const [first, last] = [at(layerOf, from), at(layerOf, to)]
    const places: number[] = []
    if (last <= first) return places
    let before = from
    for (let layer = first + 1; leads && layer < last; layer++) {
      const place = layers.length
      layers.push(layer)
      left.push([])
      right.push([])
      link(before, place)
      places.push(place)
      before = place
    }
    link(before, to)
    return places
  })
  const rows = ordered(layers, left, right)
  const y = levels(rows, layers.length, count, left, right)
  const [low, high] = [Math.min(...chunked(y, Math.min)), Math.max(...chunked(y, Math.max))]
  const bands = banding(rows.length, count === 0 ? 0 : high - low)
  const x = Float64Array.from(layers, (layer) => (layer % bands.layers) * ACROSS)
  for (const [node, layer] of layers.entries())
    y[node] = at(y, node) - low + Math.floor(layer / bands.layers) * bands.height
  const edge = (layer: number) => Math.floor(layer / bands.layers)
  const bends = edges.map(({ from, to }, index) => {
    const points: number[] = []
    let before = edge(at(layerOf, from))
    for (const place of [...(through[index] ?? []), to]) {
      const band = edge(at(layers, place))
      // Down between the bands, and back to the left.
      for (; before < band; before++) {
        const between = (before + 1) * bands.height - DOWN
        points.push((bands.layers - 0.5) * ACROSS, between, -ACROSS / 2, between)
      }
      if (place !== to) points.push(at(x, place), at(y, place))
    }
    return points
  })
  return {
    ...{ x: x.slice(0, count), y: y.slice(0, count), bends },
    width: Math.max(0, Math.min(rows.length, bands.layers) - 1) * ACROSS,
    height: count === 0 ? 0 : edge(rows.length - 1) * bands.height + high - low,
  }
}

/** Many layers with little in each go on in a line below, like text. */
function banding(layers: number, height: number): { layers: number; height: number } {
  const band = height + 2 * DOWN
  const fitting = Math.ceil(Math.sqrt((layers * band * SHAPE) / ACROSS))
  return { layers: layers > LONG * fitting ? Math.max(fitting, LONG) : Math.max(layers, 1), height: band }
}

/** The longest way that leads to each node. */
function layering(count: number, edges: readonly Edge[]): number[] {
  const next: number[][] = Array.from({ length: count }, () => [])
  const open = new Array<number>(count).fill(0)
  for (const { from, to } of edges) {
    next[from]?.push(to)
    open[to] = at(open, to) + 1
  }
  const layers = new Array<number>(count).fill(0)
  const isDone = new Array<boolean>(count).fill(false)
  const ready = [...layers.keys()].filter((node) => open[node] === 0)
  let circle = 0
  for (let done = 0, head = 0; done < count; done++) {
    if (head === ready.length) {
      // The first that is left has something behind it that comes before it.
      while (isDone[circle]) circle++
      ready.push(circle)
    }
    const node = ready[head++] as number
    isDone[node] = true
    for (const to of next[node] ?? []) {
      if (isDone[to]) continue
      layers[to] = Math.max(at(layers, to), at(layers, node) + 1)
      open[to] = at(open, to) - 1
      if (open[to] === 0) ready.push(to)
    }
  }
  return layers
}

/** Each layer from top to bottom: a node stands at the mean of what it is linked with, so that few edges cross. */
function ordered(layers: readonly number[], left: number[][], right: number[][]): number[][] {
  const rows: number[][] = []
  for (const [node, layer] of layers.entries()) {
    while (rows.length <= layer) rows.push([])
    rows[layer]?.push(node)
  }
  const place = new Float64Array(layers.length)
  const number = (row: readonly number[]) => {
    for (const [index, node] of row.entries()) place[node] = row.length === 1 ? 0.5 : index / (row.length - 1)
  }
  rows.forEach(number)
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const [sides, way] of [
      [left, rows],
      [right, rows.toReversed()],
    ] as const)
      for (const row of way) {
        const wish = new Map(row.map((node) => [node, meanOf(sides[node], place) ?? at(place, node)]))
        row.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0))
        number(row)
      }
  }
  return rows
}

/** How far down each stands: as near as may be to what it is linked with, in its order, and none upon another. */
function levels(
  rows: readonly number[][],
  size: number,
  nodes: number,
  left: number[][],
  right: number[][],
): Float64Array {
  const y = new Float64Array(size)
  const room = (node: number) => (node < nodes ? DOWN : THIN)
  for (const row of rows)
    settle(
      row,
      row.map(() => 0),
      room,
      y,
    )
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    for (const [sides, way] of [
      [left, rows],
      [right, rows.toReversed()],
    ] as const)
      for (const row of way)
        settle(
          row,
          row.map((node) => meanOf(sides[node], y) ?? at(y, node)),
          room,
          y,
        )
  return y
}

/**
 * Places a row as near to its wishes as its order and its distances allow, in the sense of least squares: neighbours that want the same
 * place become a block, which stands at the mean of what its members want (pool adjacent violators).
 */
function settle(
  row: readonly number[],
  wishes: readonly number[],
  room: (node: number) => number,
  y: Float64Array,
): void {
  const offset = new Float64Array(row.length)
  for (let index = 1; index < row.length; index++)
    offset[index] = at(offset, index - 1) + (room(row[index - 1] as number) + room(row[index] as number)) / 2
  const blocks: { sum: number; size: number; from: number }[] = []
  for (const [index, wish] of wishes.entries()) {
    let block = { sum: wish - at(offset, index), size: 1, from: index }
    for (let last = blocks.at(-1); last && last.sum / last.size >= block.sum / block.size; last = blocks.at(-1)) {
      block = { sum: last.sum + block.sum, size: last.size + block.size, from: last.from }
      blocks.pop()
    }
    blocks.push(block)
  }
  for (const { sum, size, from } of blocks)
    for (let index = from; index < from + size; index++) y[row[index] as number] = sum / size + at(offset, index)
}

function meanOf(nodes: readonly number[] | undefined, of: Float64Array): number | null {
  if (!nodes || nodes.length === 0) return null
  return nodes.reduce((sum, node) => sum + at(of, node), 0) / nodes.length
}

function at(list: { readonly [index: number]: number }, index: number): number {
  return list[index] ?? 0
}

/** No call has more arguments than a stack bears. */
function chunked(all: Float64Array, of: (...some: number[]) => number): number[] {
  const found: number[] = []
  for (let from = 0; from < all.length; from += 1_000) found.push(of(...all.subarray(from, from + 1_000)))
  return found
}
