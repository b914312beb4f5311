/**
 * Every error code of Triarch: what it means and what to do. `docs/reference/errors.md` says the same, and a test compares.
 * @example const advice = catalogue.TASK_EXISTS
 */
export const catalogue = {
  INVALID_DURATION: 'A duration is not a number of milliseconds or a text such as "30s": correct it.',
  INVALID_NAME: 'A name or id has characters or a length that are not allowed: rename it.',
  INVALID_OPTION: 'An option has a value outside of its range or type: correct the value named in the message.',
  INVALID_FILTER: 'A filter cannot be read: correct it at `details.position`; `details.hint` says what belongs there.',
  UNKNOWN_OPTION:
    'An option of this name does not exist: look for a typing error, the message suggests the nearest name.',
  INVALID_INPUT:
    'An input, or the payload of an event, was refused by its schema: correct the caller, the details list every issue.',
  INVALID_OUTPUT:
    'An output was refused by its schema, cannot leave its thread, or is no answer that verify may give: correct what produces it.',
  UNSERIALISABLE: 'A value cannot be stored as JSON: convert the part at the path named in the message.',
  PAYLOAD_TOO_LARGE: 'A value is larger than the payload limit: store it elsewhere and pass a reference.',
  TOO_MANY_SECRETS:
    'More texts of a payload are marked as secret than can be hidden: mark fewer paths, or store them elsewhere and pass a reference.',
  DUPLICATE_DEFINITION: 'Two definitions share a name (and version): rename one or raise its version.',
  UNKNOWN_WORKFLOW: 'What was given is no workflow: give what workflow() returned.',
  UNKNOWN_ACTION: 'What was given is no action, or an agent was asked for one it lacks: check the definitions.',
  UNKNOWN_TASK: 'The store holds no task of this id: check the id, or whether the task was pruned.',
  UNKNOWN_SCHEDULE: 'The store holds no schedule of this name: check the name, or register it.',
  TASK_EXISTS:
    'A task of this id exists with another workflow or input: use another id, or submit the same order again.',
  TASK_FAILED: 'The task ended in error: read the cause, then retry the task if it can succeed now.',
  TASK_CANCELLED: 'The task was cancelled: nothing to do unless it was a mistake.',
  TASK_COMPENSATED: 'The task could not finish and was undone: read the cause, then submit anew if wanted.',
  TASK_EXPIRED: 'The task did not start before its start-before: submit it anew if it still makes sense.',
  TASK_DEADLINE: 'The task was not done by its complete-by: find what was slow, or allow more time.',
  TASK_STOPPED: 'The task has stopped and takes no more events or controls: retry it first if it should go on.',
  TASK_NOT_PAUSED: 'Only a paused task can be resumed: check its status first.',
  MAILBOX_FULL:
    'As much is waiting for the task as it may: let it take some of it, or raise limits.mailbox or limits.mailboxBytes.',
  TOKEN_SPENT: 'The step of a resume token is done or began anew: nothing to do, or give the token of its new run.',
  ILLEGAL_MOVE: 'The state the task or step is in does not allow this control: check its status first.',
  LOCK_HELD: 'Another task holds the lock, and this one was not to wait: try again later, or queue.',
  LOCK_TIMEOUT: 'A lock could not be had in time: catch it in the workflow, or look at its holder by explain().',
  LOCK_DEADLOCK:
    'A task would have waited for itself through the tasks named: take locks in one order, and each once; let no child need what its parent has.',
  ANTECEDENT_FAILED: 'A task this one comes after did not succeed: retry that one, then this one, or submit anew.',
  STEP_FAILED: 'A step used up its attempts: catch it in the workflow, or let the rescue strategy decide.',
  STEP_TIMEOUT: 'An attempt passed its complete-by: find what was slow, or raise completeWithin.',
  STEP_LOST: 'The process of an attempt died: nothing to do, the step is verified or tried again.',
  UNAWAITED_STEP:
    'A workflow returned without awaiting a step that was not done or failed: await it, or use task.start for what outlives it.',
  STEP_UNRECORDABLE:
    'A step did its work, but its output cannot be recorded: mend the action, then skip the step with an output, or retry or cancel.',
  STEP_KEEPS_DYING:
    'A step was lost with its process time and again, as if it killed it, and its task paused: find out what it does, then retry, skip or cancel.',
  STEP_CANCELLED: 'A step was withdrawn because its task stops: nothing to do.',
  STEP_UNKNOWN_OUTCOME: 'Nobody knows whether an attempt took effect: ask the service, then skip or retry the step.',
  HEARTBEAT_MISSED: 'An attempt gave no heartbeat in time: call step.heartbeat() more often, or raise heartbeatWithin.',
  UNDO_FAILED:
    'A compensation used up its attempts and the task paused: repair the cause, then retry or skip the undo.',
  EVENT_TIMEOUT: 'An awaited event did not arrive in time: catch it in the workflow and decide.',
  CHILD_FAILED: 'A child task did not succeed: catch it in the workflow, or look at the child task.',
  BATCH_FAILED: 'More children of a batch failed than it tolerates: look at them, then retry the step.',
  HISTORY_MISMATCH:
    'The code asked for something else than the history holds: restore the code, or use patched() or a new version.',
  TASK_QUARANTINED:
    'A task was set apart, for it harms whoever has it: mend what `details.cause` names, then resume() or cancel({ force: true }) it.',
  TASK_TOO_LARGE:
    'The history of a task needs more memory than its node has: start a node with a larger heap, then resume() it.',
  REPLAY_TOO_LONG: 'The replay of a task took too long: look for slow code between its steps, or use continueAs().',
  HISTORY_TOO_LONG: 'The history of a task reached its limit: use continueAs() or split the work into child tasks.',
  FAN_OUT_TOO_WIDE: 'A task has more outstanding steps than allowed: run them in portions.',
  HISTORY_CORRUPT:
    'The stored history of a task has gaps or unreadable records, or another row is unreadable: restore the store from a backup, or resume({ after }).',
  HISTORY_FORMAT_UNKNOWN:
    'A record of a history is of a format that this version does not know: update this process, then resume() the task.',
  LETTER_CORRUPT:
    'A letter to a task cannot be read: mend its row and resume() the task, or resume() it without the letter.',
  CODEC_MISSING:
    'A stored value was encoded by a codec that this process lacks: give it the `codec` of the others, then resume() the task.',
  CODEC_KEY_MISSING:
    'A stored value was encrypted with a key that this process lacks: give it the key, then resume() the task.',
  CODEC_FAILED:
    'A stored value cannot be decoded, for it was changed, or a key of the same id is another: restore the store or the key, then resume() the task.',
  NODE_STOPPED: 'This node is stopping or has stopped: use another node or a new one.',
  NODE_FENCED:
    'This node was taken for dead and its tasks went to others: it restarts its work by itself; check for long stalls.',
  LEASE_UNGUARDED:
    'No thread renews the lease: keep steps from blocking the event loop, or leave pg out of the bundle.',
  WAIT_TIMEOUT: 'The result did not come within the time the caller wanted to wait: the task goes on, ask again later.',
  READ_TOO_COSTLY:
    'The store would have to look at too much: narrow it by status, result, tags or parent, or ask for less.',
  STORE_BUSY: 'Another process held the store for too long: try again, and look for long transactions.',
  STORE_SQLITE_TOO_OLD:
    'This SQLite has a known fault with its write-ahead log: use a Node with SQLite 3.51.3 or later.',
  STORE_SCHEMA_NEWER: 'The store was written by a newer Triarch: update this process.',
  STORE_FORMAT_IN_USE: 'Nodes of an earlier version work on the store: update or stop them, then migrate() it again.',
  STORE_SCHEMA_OLD: 'The store lacks what this Triarch added to the schema: run migrate(), then start again.',
  STORE_POSTGRES_UNSUPPORTED: 'The server is a PostgreSQL that Triarch was not made for: use a supported version.',
  STORE_READ_ONLY: 'The server takes no writes, such as a standby: give the address of the primary.',
  STORE_UNAVAILABLE:
    'The server of the store could not be reached for too long: check it and the network, then try again.',
  STORE_UNANSWERED:
    'Nobody can say whether the store did what it was asked, for it gave no answer to that: look, or ask again.',
  STORE_CLOSED: 'The store was used after it was closed: keep it open while nodes and clients use it.',
  STORE_REPLACED: 'The file of the store was deleted or replaced while in use: start the processes that use it again.',
  STORE_FULL: 'The disk or the database is full: make room; nothing that was acknowledged is lost.',
  STORE_FAILED: 'The store refused an operation: read the cause.',
  STORE_VIA_INVALID:
    'The connection given as `via` is no open transaction on the same database: pass the one that holds your rows.',
  TRANSACTION_ENDED:
    'The function given to task.transaction ended its transaction: leave COMMIT and ROLLBACK to Triarch, throw to undo.',
  WORKFLOW_MISUSE:
    'A workflow awaited something foreign or used its context outside of its turn: await only what the context gives.',
  MIDDLEWARE_MISUSE: 'A middleware called next() twice, or kept a task from being submitted: see the message.',
  STEP_MISUSE: 'A step used its context where it may not: see the message.',
  INVALID_TOKEN: 'What was given is no resume token: give what step.token was.',
  PLAN_MISUSE:
    'A plan used a reference as a value, was used after it was finished, or mixed with another: see the message.',
  PLAN_TOO_LARGE: 'A plan has more steps or bytes than allowed: put parts of it into child tasks.',
  PLAN_FAILED: 'The code that plans threw: read the cause; nothing was stored.',
  REFERENCE_UNRESOLVED:
    'An input refers to a part of an output that is not there: correct the plan, or retry the step with an input.',
  CRASH_TEST_FAILED:
    'A workflow did not survive a fault that crashEverywhere() tried: the message says which and where, `report` all.',
  INVARIANT: 'Triarch broke a rule of its own: please report it with the message and the stack.',
} as const

/**
 * The `code` of every error that Triarch raises: stable, for programs. docs/reference/errors.md says what to do about each.
 * @example const known: ErrorCode = 'TASK_EXISTS'
 */
export type ErrorCode = keyof typeof catalogue

/** True when the text is a code of the catalogue. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(catalogue, code)
}
