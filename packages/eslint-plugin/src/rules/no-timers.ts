import type { Rule } from 'eslint'
import { bare, dressed, type Node, parentOf } from '../code/syntax.ts'
import { vocabulary } from '../vocabulary.ts'
import { type Ban, banRule } from './ban.ts'

const sleep = `task.${vocabulary.sleep}('1h')`

/** `new Promise((resolve) => setTimeout(resolve, ms))` around a timer; null: the timer does something else. */
function waitAround(call: Node): Node | null {
  let node = dressed(call)
  for (let parent = parentOf(node); parent; parent = parentOf(node)) {
    if (parent.type === 'NewExpression') {
      const [executor] = parent.arguments
      const isPromise = parent.callee.type === 'Identifier' && parent.callee.name === 'Promise'
      return isPromise && executor === node ? parent : null
    }
    const isPart =
      parent.type === 'ExpressionStatement' ||
      (parent.type === 'BlockStatement' && parent.body.length === 1) ||
      parent.type === 'ArrowFunctionExpression' ||
      parent.type === 'FunctionExpression'
    if (!isPart) return null
    node = parent
  }
  return null
}

/** Whether the timer's function is that which resolves the promise. */
function resolves(promise: Node, handler: Node | undefined): boolean {
  if (promise.type !== 'NewExpression' || handler?.type !== 'Identifier') return false
  const [executor] = promise.arguments
  if (executor?.type !== 'ArrowFunctionExpression' && executor?.type !== 'FunctionExpression') return false
  const [resolve] = executor.params
  return resolve?.type === 'Identifier' && resolve.name === handler.name
}

export const timers: readonly Ban[] = [
  {
    name: 'setTimeout',
    instead: sleep,
    replace(task, call, text) {
      const wait = call && waitAround(call)
      const [handler, time] = call?.arguments ?? []
      return wait && time && resolves(wait, handler) ? `${task}.${vocabulary.sleep}(${text(time)})` : null
    },
    replaced: (call) => waitAround(call) ?? call,
  },
  { name: 'setInterval', instead: sleep },
  { name: 'setImmediate', instead: sleep },
  { name: 'requestAnimationFrame', instead: sleep },
  { name: 'process.nextTick', instead: sleep },
  { name: 'scheduler', instead: sleep },
  { name: 'AbortSignal.timeout', instead: `a \`timeout\` among the options of the call, or ${sleep} in a race` },
  {
    module: 'timers/promises',
    name: 'setTimeout',
    instead: sleep,
    replace(task, call, text) {
      const [time, value] = call?.arguments ?? []
      return time && bare(time).type !== 'SpreadElement' && !value ? `${task}.${vocabulary.sleep}(${text(time)})` : null
    },
  },
  { module: 'timers/promises', instead: sleep },
]

export const noTimers: Rule.RuleModule = banRule({
  description: 'Disallow timers in workflow code.',
  message: '`{{what}}` is lost with the process, and the task waits for nothing that it knows of: use `{{instead}}`.',
  bans: timers,
})
