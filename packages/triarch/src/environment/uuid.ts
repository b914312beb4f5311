/** UUID version 7 (RFC 9562 §5.7): 48 bits of ms, a 12-bit counter that keeps ids of one ms in order, 62 random bits. */
export function uuidv7Source(now: () => number, random: () => number): () => string {
  let last = 0
  let counter = 0
  return () => {
    const at = now()
    if (at > last) {
      last = at
      counter = 0
    } else if (++counter > 0xfff) {
      last++
      counter = 0
    }
    const time = last.toString(16).padStart(12, '0')
    const high = (0x8000 + Math.floor(random() * 0x4000)).toString(16)
    const low = hex24(random) + hex24(random)
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${high}-${low}`
  }
}

function hex24(random: () => number): string {
  return Math.floor(random() * 0x1000000)
    .toString(16)
    .padStart(6, '0')
}
