/**
 * Calls back when every promise reaction that can run now has run: a tick queued from inside a microtask runs after the microtask queue is
 * empty. Requests made before that microtask has run share one tick.
 */
export function drainer(): (callback: () => void) => void {
  let asked: (() => void)[] = []
  const answer = (callbacks: (() => void)[]) => {
    for (const callback of callbacks) callback()
  }
  return (callback) => {
    if (asked.push(callback) > 1) return
    queueMicrotask(() => {
      process.nextTick(answer, asked)
      asked = []
    })
  }
}
