import { emit, type Turn } from './turn.ts'

/** The end of a task all of whose work is settled. */
export function stop(turn: Turn): void {
  const { state } = turn
  const reason = state.unwinding
  if (!reason) return
  const undone = state.undone > 0
  const result =
    reason.cause === 'returned'
      ? state.skipped
        ? 'warning'
        : 'success'
      : reason.cause === 'cancel'
        ? 'cancelled'
        : undone || reason.cause === 'operator'
          ? 'compensated'
          : 'error'
  const { output, error } = reason
  emit(turn, {
    type: 'stopped',
    result,
    ...(reason.cause === 'returned' && { output: output ?? null }),
    ...(error && { error }),
  })
}

/** What a stopped task tells its parent; part of the transition that stops it. */
export function notifyParent(turn: Turn): void {
  const { state } = turn
  if (state.status !== 'stopped' || !state.parent || !turn.events.some((event) => event.type === 'stopped')) return
  turn.posts.push({
    task: state.parent.task,
    message: {
      type: 'child',
      step: state.parent.step,
      result: state.result,
      ...(state.output !== undefined && { output: state.output }),
      ...(state.error !== undefined && { error: state.error }),
    },
    control: true,
  })
}
