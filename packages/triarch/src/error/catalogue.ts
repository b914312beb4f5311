/**
 * Every error code of Triarch: its meaning and what to do. A test compares this with `docs/reference/errors.md`.
 * @example const advice = errorCatalogue.TASK_EXISTS
 */
export const errorCatalogue = {
  INVALID_DURATION: 'A duration is neither a number of milliseconds nor a string such as "30s": correct it.',
  INVALID_NAME: 'A name or id has characters or a length that are not allowed: choose another.',
  INVALID_OPTION:
    'An option has a value outside of its range or of the wrong type: correct the value named in the message.',
  INVALID_SETTING:
    'A schema refused the value of a setting, or an environment variable or local file of settings cannot be read: correct the value; the details list every issue.',
  INVALID_FILTER: 'A filter cannot be read: correct it at `details.position`; `details.hint` says what belongs there.',
  UNKNOWN_OPTION: 'There is no option of this name: look for a typo; the message suggests the nearest name.',
  INVALID_INPUT:
    'A schema refused an input or the payload of a signal: correct the caller; the details list every issue.',
  INVALID_OUTPUT:
    'A schema refused an output, the output cannot leave its thread, or verify gave an answer that it may not give: correct the code that produces it.',
  UNSERIALISABLE: 'A value cannot be stored as JSON: convert the part at the path named in the message.',
  PAYLOAD_TOO_LARGE: 'A value is larger than the payload limit: store it elsewhere and pass a reference.',
  TOO_MANY_SECRETS:
    'More strings of a payload are marked as secret than can be hidden: mark fewer paths, or store them elsewhere and pass a reference.',
  DUPLICATE_DEFINITION: 'Two definitions share a name (and version): rename one or raise its version.',
  UNKNOWN_WORKFLOW:
    'The value given is not a workflow, or this process knows no workflow of that name: give what workflow() returned, or the name of a registered one.',
  UNKNOWN_ACTION: 'The value given is not an action, or the agent does not have it: check the definitions.',
  UNKNOWN_SIGNAL:
    'The workflow declares the signals that it takes, and this is not one of them: correct the name, or declare it.',
  UNKNOWN_TASK: 'The store holds no task of this id: check the id, or whether the task was pruned.',
  UNKNOWN_RECORD:
    'The history of the task has no record of this number: look into its history for those that there are.',
  UNKNOWN_SCHEDULE: 'The store holds no schedule of this name: check the name, or register it.',
  UNKNOWN_SETTING:
    'This process knows no setting of this name, or the store holds none of this version: check the name, or give the definition to `settings` of Triarch.',
  SETTING_CHANGED: 'Somebody else changed the setting meanwhile: read it again, then decide anew.',
  SUBMISSIONS_PAUSED:
    'An operator has paused submissions, of this workflow or of all: wait until they are taken again; `details.reason` says why.',
  QUEUE_FULL:
    'As much waits already as may (`maxQueued`): try again later, catch it in the workflow, or let who comes wait (`whenFull`).',
  TASK_EXISTS:
    'A task of this id exists with another workflow or input: use another id, or submit the same order again.',
  IMPORT_REFUSED:
    'The history of a task cannot be taken over as it is: `details.cause` says what stands in the way; see to that, or let the task stop where it is.',
  IMPORT_TOO_LARGE:
    'The history of a task is larger than one import may be: let it continue as new, or stop, where it is.',
  REQUEST_DIFFERS:
    'The key of a request was used before for another one: give each request a key of its own, or send the same again.',
  TASK_FAILED: 'The task ended in error: read the cause, then retry the task if it can succeed now.',
  TASK_CANCELLED: 'The task was cancelled: nothing to do unless it was a mistake.',
  TASK_COMPENSATED: 'The task could not finish and was undone: read the cause, then submit it again if wanted.',
  TASK_EXPIRED: 'The task did not start before its start-before: submit it again if it still makes sense.',
  TASK_DEADLINE: 'The task was not done by its complete-by: find what was slow, or allow more time.',
  TASK_STOPPED: 'The task has stopped and takes no more signals or controls: retry it first if it should go on.',
  MORE_THAN_CONFIRMED: 'More tasks fit the filter than were confirmed: count again, and confirm that many.',
  TASK_NOT_PAUSED: 'Only a paused task can be resumed: check its status first.',
  INBOX_FULL:
    'As much is waiting for the task as its limits allow: wait until it has taken some of it, or raise limits.inbox or limits.inboxBytes.',
  TOKEN_SPENT: 'The step of a resume token is done or has begun anew: nothing to do, or use the token of its new run.',
  ILLEGAL_MOVE: 'The state of the task or step does not allow this control: check its status first.',
  LOCK_HELD: 'Another task holds the lock, and this one was told not to wait: try again later, or queue.',
  LOCK_TIMEOUT: 'A lock was not granted in time: catch it in the workflow, or find its holder with explain().',
  LOCK_DEADLOCK:
    'A task would have waited for itself, directly or through the tasks named: take locks in one order and each once, and let no child need a lock of its parent.',
  PREDECESSOR_FAILED:
    'A task that this one comes after did not succeed: retry that task, then this one, or submit this one again.',
  STEP_FAILED: 'A step used up its attempts: catch it in the workflow, or let the rescue strategy decide.',
  STEP_TIMEOUT: 'An attempt passed its complete-by: find what was slow, or raise attemptWithin.',
  CIRCUIT_OPEN:
    'The circuit breaker of an agent is open, and its steps are set to fail meanwhile: catch it in the workflow, or let the steps wait (`whenOpen`).',
  UNKNOWN_BREAKER:
    'The store holds no circuit breaker of this name: check the name, or start a node that hosts its agent.',
  UNKNOWN_ALERT: 'The store holds no alert of this name, or it has ended: list those that there are.',
  UNKNOWN_KEY: 'The store holds no API key of this name, or it has ended: list those that there are.',
  KEY_EXISTS: 'There is an API key of this name, or there was one within 90 days: rotate it, or take another name.',
  TOO_MANY_KEYS: 'The store holds as many API keys as there may be: revoke those that nobody needs.',
  UNKNOWN_RATE_LIMIT:
    'The store holds no rate limit of this name: check the name, or start a node that hosts its agent; that of a key is known while it is used.',
  ATTEMPT_NOT_GIVEN:
    'A server did not take the answer of an agent, because no server of its store gave that attempt to an agent that this process offers: connect to a server of the store that gave it, and offer the agent.',
  STEP_LOST: 'The process of an attempt died: nothing to do; the step is verified or tried again.',
  UNAWAITED_STEP:
    'A workflow returned without awaiting a step that was still open or had failed: await it, or use task.start for work that outlives the task.',
  STEP_UNRECORDABLE:
    'A step did its work, but its output cannot be recorded: fix the action, then skip the step with an output, or retry or cancel.',
  STEP_KEEPS_DYING:
    'A step was lost with its process again and again, as if it killed the process, and its task is paused: find out what it does, then retry, skip or cancel.',
  STEP_CANCELLED: 'A step was withdrawn because its task is stopping: nothing to do.',
  STEP_UNKNOWN_OUTCOME: 'Nobody knows whether an attempt took effect: ask the service, then skip or retry the step.',
  HEARTBEAT_MISSED: 'An attempt gave no heartbeat in time: call step.heartbeat() more often, or raise heartbeatWithin.',
  UNDO_FAILED:
    'A compensation used up its attempts and the task is paused: fix the cause, then retry or skip the undo.',
  UNDO_INCOMPLETE: 'A task was undone, but for some of what its earlier runs or its children did: undo that by hand.',
  SIGNAL_TIMEOUT: 'An awaited signal did not arrive in time: catch it in the workflow and decide.',
  CHILD_FAILED: 'A child task did not succeed: catch it in the workflow, or look at the child task.',
  BATCH_FAILED: 'More children of a batch failed than it tolerates: look at them, then retry the step.',
  BATCH_PAGE_INVALID:
    'The source of a batch gave more than the page that it was asked for, or the same page again: heed `offset` and `limit`, or give an iterable of all that there is.',
  HISTORY_MISMATCH:
    'The code asked for something other than the history holds: restore the code, or use patched() or a new version.',
  TASK_QUARANTINED:
    'A task is in quarantine because it harms every process that takes it: fix what `details.cause` names, then resume() or cancel({ force: true }) it.',
  TASK_TOO_LARGE:
    'The history of a task needs more memory than its node has: start a node with a larger heap, then resume() it.',
  REPLAY_TOO_LONG: 'The replay of a task took too long: look for slow code between its steps, or use continueAsNew().',
  HISTORY_TOO_LONG: 'The history of a task reached its limit: use continueAsNew() or split the work into child tasks.',
  FAN_OUT_TOO_WIDE: 'A task has more outstanding steps than allowed: run them in portions.',
  HISTORY_CORRUPT:
    'The stored history of a task has gaps or unreadable records, or another row is unreadable: restore the store from a backup, or resume({ after }).',
  HISTORY_FORMAT_UNKNOWN:
    'A history record has a format that this version does not know: update this process, then resume() the task.',
  MESSAGE_CORRUPT:
    'A message to a task cannot be read: repair its row and resume() the task, or resume() it without the message.',
  CODEC_MISSING:
    'A stored value was encoded by a codec that this process lacks: give it the `codec` of the others, then resume() the task.',
  CODEC_KEY_MISSING:
    'A stored value was encrypted with a key that this process lacks: give it the key, then resume() the task.',
  CODEC_FAILED:
    'A stored value cannot be decoded: it was changed, or its key id now names another key: restore the store or the key, then resume() the task.',
  NODE_STOPPED: 'This node is stopping or has stopped: use another node or a new one.',
  NODE_FENCED:
    'This node was taken for dead and its tasks went to others: nothing at once, for it restarts its work by itself; look for long stalls.',
  LEADERSHIP_LOST:
    'This process does not lead any more, and another may: stop what only a leader may do; triarch.leaders.lead() calls its function again when it leads again.',
  LEASE_UNGUARDED:
    'No thread renews the lease: keep steps from blocking the event loop, or leave pg out of the bundle.',
  WAIT_TIMEOUT:
    'The result did not come within the time the caller was willing to wait: ask again later; the task goes on.',
  WAIT_ENDLESS:
    'In a test on virtual time: the result that is awaited does not come, however much time passes: do what the task waits for.',
  WATCH_FULL:
    'The lists that are watched show as much as this process has room for: watch fewer tasks, or again later.',
  READ_TOO_COSTLY:
    'The store would have to look at too much: narrow it by status, outcome, tags or parent, or ask for less.',
  SERVER_UNREACHABLE:
    'The server gave no answer, or had no time, however often it was asked, and nobody can say what it did: check URL and network, then ask again.',
  SERVER_ANSWER_INVALID:
    'What answered is no server of Triarch, or its answer is larger than may be: check the URL, and what stands between.',
  SERVER_FAILED: 'Something went wrong inside of the server: its log says more.',
  REQUEST_REFUSED: 'The server does not take the request, as `details.code` says: correct what the message names.',
  STORE_BUSY: 'Another process held the store for too long: try again, and look for long transactions.',
  STORE_SQLITE_TOO_OLD: 'This SQLite has a known fault in its write-ahead log: use a Node with SQLite 3.51.3 or later.',
  STORE_SCHEMA_NEWER: 'The store was written by a newer Triarch: update this process.',
  STORE_SCHEMA_OLD: 'The store lacks what this Triarch added to the schema: run migrate(), then start again.',
  STORE_POSTGRES_UNSUPPORTED:
    'The server is not PostgreSQL, is a version of it that Triarch does not support, or the database has another encoding than UTF8: see the message.',
  STORE_READ_ONLY:
    'The server takes no writes, as a standby does, or the file may only be read: use the address of the primary, or make the file writable.',
  STORE_UNAVAILABLE: 'The server of the store was out of reach for too long: check it and the network, then try again.',
  STORE_UNANSWERED: 'The store gave no answer, so nobody can say whether the call took effect: look, or ask again.',
  STORE_CLOSED: 'The store was used after it was closed: keep it open while nodes and clients use it.',
  STORE_REPLACED: 'The file of the store was deleted or replaced while in use: restart the processes that use it.',
  STORE_FULL: 'The disk or the database is full, or takes no writes: make room; nothing that was acknowledged is lost.',
  STORE_FAILED: 'The store refused an operation: read the cause.',
  STORE_TRANSACTION_INVALID:
    'The connection given as `transaction` is not an open transaction on the same database: pass the one that holds your rows.',
  TRANSACTION_ENDED:
    'A function given to task.transaction ended its transaction, or used it after the function had ended: leave COMMIT and ROLLBACK to Triarch, throw to undo, and await all that the function starts.',
  WORKFLOW_MISUSE:
    'A workflow awaited something that is not a task call, or used its context outside of its turn: await only what the context gives, and put everything else into a step.',
  UNHANDLED_ERROR:
    'Code that the engine runs left an error behind, such as a promise that rejected before anybody awaited it, or a callback that threw: await each promise as soon as it is made, or give it a catch.',
  MIDDLEWARE_MISUSE: 'A middleware called next() twice, or did not let a task be submitted: see the message.',
  STEP_MISUSE: 'A step used its context where it may not: see the message.',
  ANSWER_DEFERRED:
    'A push agent answered 202 to undo or verify, which cannot wait: have its endpoint answer when that is done.',
  INVALID_TOKEN: 'The value given is not a resume token: give the value of step.token.',
  PLAN_MISUSE:
    'A plan used a reference as a value, was used after it was finished, or was mixed with another: see the message.',
  PLAN_TOO_LARGE: 'A plan has more steps or bytes than allowed: move parts of it into child tasks.',
  PLAN_FAILED: 'The code that plans threw an error: read the cause; nothing was stored.',
  REFERENCE_UNRESOLVED:
    'An input refers to a part of an output that does not exist: correct the plan, or retry the step with an input.',
  PACKAGE_MISSING:
    'A package that only some need is not there, or cannot be loaded: install the one that the message names.',
  CRASH_TEST_FAILED:
    'A workflow did not survive a fault that crashEverywhere() tried: read which and where in the message; `report` lists all.',
  INVARIANT: 'Triarch broke a rule of its own: please report it with the message and the stack.',
} as const

/**
 * The `code` of every error that Triarch raises: stable, for programs. docs/reference/errors.md says what to do about each.
 * @example const known: ErrorCode = 'TASK_EXISTS'
 */
export type ErrorCode = keyof typeof errorCatalogue

/**
 * True when the value is a code of the catalogue.
 * @example if (isErrorCode('TASK_EXISTS')) console.log(errorCatalogue.TASK_EXISTS)
 */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCatalogue, code)
}
