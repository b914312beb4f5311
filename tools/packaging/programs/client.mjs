// A program of a user's, for where only fetch is: node client.mjs URL
import { connect } from '@triarch/client'
import { isTriarchError, TaskFailedError, workflowRef } from 'triarch/contract'

/** What it learned: an output, and how a task failed. */
export async function ask(url) {
  const client = connect(url)
  const task = await client.submit(workflowRef('flow'), 41)
  const failed = await client.submit(workflowRef('flow'), 'none')
  const error = await failed.result().catch((error) => error)
  return [await task.result(), error instanceof TaskFailedError && isTriarchError(error, 'TASK_FAILED')].join(' ')
}

if (globalThis.process) void ask(process.argv[2]).then(console.log)
