// Made by openapi-typescript of openapi.json.
export interface paths {
    "/tasks/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The tasks that fit a filter, and what comes into that list, changes in it, and leaves it. */
        get: operations["watchTasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The task now, and after each change that is seen, until it stops. */
        get: operations["watchTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/logs/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Each line of its log after `after`, once and in order, and each that comes, until it has stopped. */
        get: operations["watchLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How much is in the store, now and after each change that is seen. */
        get: operations["watchStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tasks by what their rows say, a page at a time. */
        get: operations["listTasks"];
        put?: never;
        /** Submits a task; with `wait`, waits for its outcome. */
        post: operations["submitTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/submissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submits tasks of one workflow, each by itself: those that can be are submitted, whatever is wrong with others. */
        post: operations["submitTasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A task now; with `wait`, once it has stopped or the time is over. */
        get: operations["getTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/outcome": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the task ended; with `wait`, waits for that. Reads no history. */
        get: operations["getOutcome"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/change": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The task, once it is not as it was at `after` any more, or the time is over. Reads no history. */
        get: operations["getChange"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/steps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The steps of the task in the order of their numbers, without what is secret. */
        get: operations["getSteps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/moment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The task and its steps as of a record of its history, and what that record changed. */
        get: operations["getMoment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What happened in the task, oldest first, without what is secret. */
        get: operations["getHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The history as stores keep it, for `replayHistory` and `triarch replay`, without what is secret. */
        get: operations["exportTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/imports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes a task over with its history, as the export of another store gives it with its secrets: whole or not at all. It is paused, unless it has stopped or `paused` is false. */
        post: operations["importTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the steps and the code of the task wrote into its log, the oldest line first. */
        get: operations["getLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The plan of the task and how far each step is. */
        get: operations["getPlan"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/children": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The children of the task in the order in which they were created. */
        get: operations["listChildren"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Why the task is not moving, in words and as data. */
        get: operations["explainTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stops the task, and undoes what is done. */
        post: operations["cancelTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** No new step starts until the task is resumed. */
        post: operations["pauseTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The task goes on; steps that wait for an operator are tried again. */
        post: operations["resumeTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tries again: held steps of a paused task, or a stopped task from its failed step. */
        post: operations["retryTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/skip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Goes on without a step that failed. */
        post: operations["skipTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/compensate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undoes a task that succeeded. */
        post: operations["compensateTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/thaw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A task that was submitted frozen may begin. */
        post: operations["thawTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/signal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sends the task a signal, which is kept until it asks for it. */
        post: operations["signalTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Gives the step that handed out a token a signal. The token, in the header `Triarch-Token` or in the body, is the right to do so, and to nothing else. */
        post: operations["resumeStep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The same for callers that can be given a URL only. Proxies and access logs see a token that is in a path. */
        post: operations["resumeStepByPath"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Operations, the newest first, a page at a time. */
        get: operations["listOperations"];
        put?: never;
        /** Does one thing to all tasks that fit a filter; with `dryRun`, counts them. */
        post: operations["startOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An operation: who ordered what and why, and how far it is. Each of its tasks is a child of the task of this id. */
        get: operations["getOperation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operations/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Asks no more tasks. Those that took it keep it. */
        post: operations["cancelOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Schedules by name, a page at a time. */
        get: operations["listSchedules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A schedule as it stands. */
        get: operations["getSchedule"];
        /** Registers the schedule, or changes it; the same definition again changes nothing. */
        put: operations["putSchedule"];
        post?: never;
        /** Forgets the schedule. Its tasks stay as they are. `reason` is kept in the audit. */
        delete: operations["deleteSchedule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{name}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Occurrences pass unattended until the schedule is resumed. */
        post: operations["pauseSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{name}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The schedule goes on with the next occurrence. */
        post: operations["resumeSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{name}/backfill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts the occurrences of a time that has passed, at most 1,000. One that has a task keeps it. */
        post: operations["backfillSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{name}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts one of its tasks now, beside its occurrences. The same `id` again is the same task. */
        post: operations["runSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{name}/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The next occurrences, without jitter. */
        get: operations["nextOccurrences"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Workflows by name: their versions, which living nodes run them, and what those take that can be started here. */
        get: operations["listWorkflows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Agents by name: their actions, the living nodes that run them, and what waits for them. */
        get: operations["listAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/demand": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How many processes the work asks for that waits and runs, for each agent and each version of a workflow: what an autoscaler goes by. `within`: how long work may wait (100ms to 1d; 30s). */
        get: operations["getDemand"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/locks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Locks that tasks have, by name: who has each, and who waits for it. */
        get: operations["listLocks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/leaders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Names that processes lead by, or led once: the node that does, and its token. */
        get: operations["listLeaders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The nodes that live, and where. */
        get: operations["listNodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How much is in the store, and what the process of this server counted. */
        get: operations["getStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How many tasks fit a filter, counted up to `most`. */
        get: operations["countTasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/breakers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Circuit breakers by name, a page at a time; of an agent with a key, those that were ever ill. */
        get: operations["listBreakers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/breakers/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A circuit breaker as it stands, with its last changes. */
        get: operations["getBreaker"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/breakers/{name}/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** No attempt of the agent starts, on any node: until `until`, or until it is closed. */
        post: operations["openBreaker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/breakers/{name}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What waits goes out in waves. */
        post: operations["closeBreaker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/breakers/{name}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** As if the service had always been well. */
        post: operations["resetBreaker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rate-limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Rate limits by name, a page at a time; of keys, those that are in use. */
        get: operations["listRateLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rate-limits/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A rate limit as it stands, with what operators did. */
        get: operations["getRateLimit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rate-limits/{name}/change": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Other numbers, on all nodes: until `until`, or until it is restored. */
        post: operations["changeRateLimit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rate-limits/{name}/lift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** No limit, and no rest: until `until`, or until it is restored. */
        post: operations["liftRateLimit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rate-limits/{name}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What the code or a setting says counts again. */
        post: operations["restoreRateLimit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is wrong now, by name, a page at a time; with `ended=true` what was. */
        get: operations["listAlerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An alert as it stands: since when, who has it in hand, and when it ended. */
        get: operations["getAlert"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tells one sink of this process, or all of them, that somebody tries it, and says what each answered. */
        post: operations["testAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/{name}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Somebody has it in hand: nobody is told again before it ends. */
        post: operations["acknowledgeAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/{name}/silence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Nobody is told that it fires, until then. */
        post: operations["silenceAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/{name}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** It is over, until its condition was gone once and is back. */
        post: operations["endAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process answers: for a liveness probe. It looks at nothing else, for a restart mends no store. */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process can serve: the store answers, the node has its lease, nobody stops it. For a readiness probe. */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the engine is, each check by itself; an answer serves all who ask within some seconds. With `report=true` it is 200 however bad, for who reads it. */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/probes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Endpoints as a prober has kept them, by name, a page at a time, or those of these names; with `history=true` what the last looks saw, of 100 at most. */
        get: operations["listProbes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cache/invalidate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Kept answers are not valid any more: of an action, of an action for a key, or with a tag. */
        post: operations["invalidateAnswers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Settings by name, a page at a time: those that were ever changed, and those that this engine knows. */
        get: operations["listSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A setting as it stands: what the store says, what is on trial, what this engine makes of it, who runs what. */
        get: operations["getSetting"];
        /** What the store says from now on: everywhere at once, or with `stages` on some nodes first. */
        put: operations["setSetting"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/{name}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What was ever done to a setting, the last first, a page at a time. */
        get: operations["getSettingHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/{name}/change": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Of an object only these properties are others; null: the store says nothing of that one any more. */
        post: operations["changeSetting"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/{name}/advance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A value on trial goes on: to the next stage, or with `all` everywhere. */
        post: operations["advanceSetting"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/{name}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A value on trial is taken back; else the value before the last one, or that of version `to`, counts again. */
        post: operations["rollbackSetting"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/{name}/clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The store says nothing any more: the layers below count. */
        post: operations["clearSetting"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What histories say, counted by the hour: how often tasks, steps and attempts ended how, how long they took (ms), and how far behind that is. `by`, given once for each: what rows are told apart by (kind, workflow, outcome), or `none`. `from`, `to`: the last day. The others choose. */
        get: operations["getFigures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/statistics/recount": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** All that was counted is dropped, and counted anew from the histories that there are; `recount` of the figures says how far that is. */
        post: operations["recount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Acts upon the system, the last first, a page at a time: who did what, on what, when and why, refused ones among them. */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** API keys by name, those that have ended among them, a page at a time; never what only their holders know. */
        get: operations["listKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An API key as it stands: what it may do, who made it, when it ends, when it was used last. */
        get: operations["getKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{name}/create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes an API key, with no right that whoever asks lacks, and hands it out: this once. */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{name}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Gives the key another secret, and hands that out: this once. The one so far holds for `overlap` (`"1d"`). */
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{name}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes the key away, for ever, on all servers within a second or so; what is open by it is ended. */
        post: operations["revokeKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume tokens and the tickets of connected agents are signed by another secret of the store. What was signed before is taken for `overlap` (`"30d"`). Needs `control`, too: it ends what others may do. */
        post: operations["rotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/principal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who asks, as this server knows them, and what they may do. Anybody who is known may ask. */
        get: operations["getPrincipal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/exchange": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What an agent's process has to say, and what it is to hear: docs/protocol.md. */
        post: operations["exchangeWithAgents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** Format: date-time */
        Instant: string;
        SettingPause: {
            setting: string;
            name: string;
            reason: string;
            actor: string;
            since: components["schemas"]["Instant"];
        };
        TaskWait: {
            /** @enum {string} */
            code: "frozen" | "queued" | "no-scheduler" | "workflow-paused" | "step-queued" | "no-agent" | "agent-paused" | "breaker" | "rate-limit" | "concurrency";
            of: string;
            until?: components["schemas"]["Instant"];
            text: string;
        };
        Cached: {
            at: components["schemas"]["Instant"];
            /** @enum {string} */
            from: "memory" | "shared";
            /** @constant */
            stale?: true;
        };
        Error: {
            name: string;
            message: string;
            code?: string;
            stack?: string;
            cause?: unknown;
            details?: unknown;
        };
        Problem: {
            type: string;
            title: string;
            status: number;
            detail: string;
            code: string;
            details?: unknown;
            errors?: {
                path: string;
                message: string;
            }[];
        };
        LogLine: {
            seq: number;
            at: components["schemas"]["Instant"];
            /** @enum {string} */
            level: "debug" | "info" | "warn" | "error";
            message: string;
            fields: {
                [key: string]: unknown;
            };
            step?: number;
            /** @enum {string} */
            operation?: "run" | "undo" | "verify";
            attempt?: number;
            node?: string;
            dropped: number;
        };
        LogPage: {
            lines: components["schemas"]["LogLine"][];
            next?: number;
            last: number;
            shed: number;
        };
        AgentHello: {
            /** @constant */
            type: "hello";
            protocol: number;
            instance: string;
            count: number;
            agents: {
                name: string;
                slots: number;
                actions: string[];
            }[];
            running: string[];
            software?: string;
        };
        AgentCredit: {
            /** @constant */
            type: "credit";
            agent: string;
            slots: number;
        };
        AgentHeartbeat: {
            /** @constant */
            type: "heartbeat";
            attempt: string;
            beat: number;
            progress?: unknown;
            checkpoint?: unknown;
        };
        AgentReply: {
            /** @constant */
            type: "reply";
            attempt: string;
            outcome: {
                /** @constant */
                kind: "done";
                output?: unknown;
            } | {
                /** @enum {string} */
                kind: "not-done" | "unknown";
            } | {
                /** @constant */
                kind: "withdrawn";
                after?: number;
            } | {
                /** @constant */
                kind: "failed";
                error: {
                    name: string;
                    message: string;
                    code?: string;
                    stack?: string;
                    cause?: unknown;
                    details?: unknown;
                };
                retryable: boolean;
                retryAfter?: number;
                /** @constant */
                unknown?: true;
                /** @constant */
                done?: true;
                /** @enum {string} */
                lost?: "stop" | "alive";
            };
            checkpoint?: unknown;
        };
        AgentSuspend: {
            /** @constant */
            type: "suspend";
            attempt: string;
            timeout?: number;
            signals?: {
                in: number;
                name: string;
                payload?: unknown;
            }[];
            checkpoint?: unknown;
            progress?: unknown;
            /** @constant */
            onCancel?: true;
            page?: {
                offset: number;
                items: {
                    input?: unknown;
                    exclusive?: {
                        key: string;
                        /** @enum {string} */
                        ifHeld: "queue" | "reject" | "replace";
                    }[];
                }[];
                last: boolean;
                digest?: string;
            };
        };
        AgentLog: {
            /** @constant */
            type: "log";
            attempt: string;
            lines: {
                n: number;
                ago: number;
                /** @enum {string} */
                level: "debug" | "info" | "warn" | "error";
                message: string;
                fields?: {
                    [key: string]: unknown;
                };
                dropped?: number;
            }[];
        };
        AgentDrain: {
            /** @constant */
            type: "drain";
        };
        AgentLeave: {
            /** @constant */
            type: "leave";
        };
        AgentMessage: components["schemas"]["AgentHello"] | components["schemas"]["AgentCredit"] | components["schemas"]["AgentHeartbeat"] | components["schemas"]["AgentReply"] | components["schemas"]["AgentSuspend"] | components["schemas"]["AgentLog"] | components["schemas"]["AgentDrain"] | components["schemas"]["AgentLeave"];
        AgentExchange: {
            session?: string;
            seen?: number;
            wait?: number;
            messages: components["schemas"]["AgentMessage"][];
        };
        ServerAttempt: {
            n: number;
            /** @constant */
            type: "attempt";
            attempt: string;
            agent: string;
            action: string;
            /** @enum {string} */
            operation: "run" | "undo" | "verify";
            number: number;
            task: string;
            step: number;
            name: string;
            workflow: string;
            version: string;
            idempotencyKey: string;
            token?: string;
            input: unknown;
            output?: unknown;
            checkpoint?: unknown;
            signal?: {
                name: string;
                payload: unknown;
            };
            metadata?: {
                [key: string]: string;
            };
            run?: number;
            fence?: number;
            attemptWithin: number;
            heartbeatWithin?: number;
        };
        ServerAck: {
            n: number;
            /** @constant */
            type: "ack";
            attempt: string;
            /** @constant */
            late?: true;
            /** @constant */
            code?: "ATTEMPT_NOT_GIVEN";
        };
        ServerAbort: {
            n: number;
            /** @constant */
            type: "abort";
            attempt: string;
            code: string;
            message: string;
        };
        ServerDrain: {
            n: number;
            /** @constant */
            type: "drain";
        };
        ServerWelcome: {
            /** @constant */
            type: "welcome";
            protocol: number;
            session: string;
            lease: number;
            payload: number;
        };
        ServerReset: {
            /** @constant */
            type: "reset";
        };
        ServerRefused: {
            /** @constant */
            type: "refused";
            /** @enum {string} */
            code: "PROTOCOL" | "AGENT_HOSTED" | "TOO_MANY";
            message: string;
        };
        ServerMessage: components["schemas"]["ServerAttempt"] | components["schemas"]["ServerAck"] | components["schemas"]["ServerAbort"] | components["schemas"]["ServerDrain"] | components["schemas"]["ServerWelcome"] | components["schemas"]["ServerReset"] | components["schemas"]["ServerRefused"];
        ServerExchange: {
            messages: components["schemas"]["ServerMessage"][];
            after?: number;
            heard?: number;
        };
        Alert: {
            name: string;
            id: string;
            rule: string;
            subject: string;
            /** @enum {string} */
            phase: "pending" | "firing" | "ended";
            /** @enum {string} */
            severity: "warning" | "critical";
            message: string;
            since: components["schemas"]["Instant"];
            firedAt?: components["schemas"]["Instant"];
            endedAt?: components["schemas"]["Instant"];
            endedBy?: {
                actor: string;
                reason: string;
                at: components["schemas"]["Instant"];
            };
            owner?: {
                actor: string;
                reason: string;
                at: components["schemas"]["Instant"];
            };
            silence?: {
                actor: string;
                reason: string;
                at: components["schemas"]["Instant"];
                until: components["schemas"]["Instant"];
            };
            toldAt?: components["schemas"]["Instant"];
        };
        AlertPage: {
            alerts: components["schemas"]["Alert"][];
            next?: string;
        };
        AlertControl: {
            reason: string;
            actor?: string;
        };
        AlertTest: {
            sink?: string;
            reason?: string;
            actor?: string;
        };
        AlertTrials: {
            sinks: {
                sink: string;
                ok: boolean;
                ms: number;
                problem?: string;
            }[];
        };
        AlertSilence: {
            reason: string;
            actor?: string;
            until: components["schemas"]["Instant"];
        };
        AuditPage: {
            entries: {
                at: components["schemas"]["Instant"];
                actor?: string;
                action: string;
                subject: string;
                /** @enum {string} */
                outcome: "done" | "refused";
                reason?: string;
                request?: string;
                details?: {
                    [key: string]: unknown;
                };
            }[];
            next?: string;
        };
        Cancel: {
            compensate?: boolean;
            force?: boolean;
            reason?: string;
            actor?: string;
        };
        Pause: {
            reason?: string;
            actor?: string;
        };
        Resume: {
            after?: number;
            reason?: string;
            actor?: string;
        };
        Retry: {
            step?: number;
            input?: unknown;
            reason?: string;
            actor?: string;
        };
        Skip: {
            step: number;
            output?: unknown;
            reason?: string;
            actor?: string;
        };
        Compensate: {
            reason?: string;
            actor?: string;
        };
        Thaw: {
            startAt?: components["schemas"]["Instant"];
            reason?: string;
            actor?: string;
        };
        Signal: {
            name: string;
            payload?: unknown;
            reason?: string;
            actor?: string;
        };
        Token: {
            value?: unknown;
            name?: string;
            optional?: boolean;
        };
        TokenUse: {
            token?: string;
            value?: unknown;
            name?: string;
            optional?: boolean;
        };
        Breaker: {
            name: string;
            agent: string;
            key?: string;
            keyed: boolean;
            /** @enum {string} */
            state: "closed" | "open" | "half-open" | "releasing";
            since: components["schemas"]["Instant"];
            nextProbe?: components["schemas"]["Instant"];
            /** @constant */
            idle?: true;
            waiting: number;
            seen: {
                answers: number;
                ill: number;
                slow: number;
            };
            rule: {
                failureRate: number;
                slowRate: number | null;
                slowerThan: number | null;
                window: number;
                minimum: number;
                open: number;
                openMax: number;
                probes: number;
            };
            streak: number;
            wave?: {
                number: number;
                size: number;
                given: number;
                seen: {
                    answers: number;
                    ill: number;
                    slow: number;
                };
            };
            changes: {
                at: components["schemas"]["Instant"];
                /** @enum {string} */
                from: "closed" | "open" | "half-open" | "releasing";
                /** @enum {string} */
                to: "closed" | "open" | "half-open" | "releasing";
                actor: string;
                reason: string;
            }[];
        };
        BreakerPage: {
            breakers: components["schemas"]["Breaker"][];
            next?: string;
        };
        BreakerControl: {
            reason: string;
            actor?: string;
        };
        BreakerOpening: {
            reason: string;
            actor?: string;
            until?: components["schemas"]["Instant"];
        };
        Invalidation: {
            action: string;
            key?: unknown;
            reason?: string;
        } | {
            tag: string;
            reason?: string;
        };
        Health: {
            /** @enum {string} */
            status: "ok" | "warning" | "critical";
            at: components["schemas"]["Instant"];
            node?: string;
            checks: {
                name: string;
                /** @enum {string} */
                status: "ok" | "warning" | "critical";
                message?: string;
                code?: string;
                details?: {
                    [key: string]: number | string | boolean;
                };
                observed?: {
                    [key: string]: number | string | boolean;
                };
                ms: number;
                at: components["schemas"]["Instant"];
                since: components["schemas"]["Instant"];
                lastError?: {
                    at: components["schemas"]["Instant"];
                    message: string;
                };
            }[];
        };
        Probe: {
            /** @enum {string} */
            status: "ok" | "unavailable";
        };
        Key: {
            name: string;
            id: string;
            /** @enum {string} */
            status: "active" | "expired" | "revoked";
            rights: ("read" | "start" | "control" | "schedules" | "breakers" | "rates" | "caches" | "alerts" | "statistics" | "agents" | "import" | "settings:read" | "settings:write" | "audit" | "keys")[];
            note?: string;
            made: {
                actor: string;
                reason: string;
                at: components["schemas"]["Instant"];
            };
            expiresAt?: components["schemas"]["Instant"];
            usedAt?: components["schemas"]["Instant"];
            rotated?: {
                actor: string;
                reason: string;
                at: components["schemas"]["Instant"];
            };
            overlapsUntil?: components["schemas"]["Instant"];
            revoked?: {
                actor: string;
                reason: string;
                at: components["schemas"]["Instant"];
            };
        };
        IssuedKey: {
            secret: string;
            key: components["schemas"]["Key"];
        };
        KeyPage: {
            keys: components["schemas"]["Key"][];
            next?: string;
        };
        KeyCreation: {
            rights: ("read" | "start" | "control" | "schedules" | "breakers" | "rates" | "caches" | "alerts" | "statistics" | "agents" | "import" | "settings:read" | "settings:write" | "audit" | "keys")[];
            expiresIn?: string;
            note?: string;
            reason?: string;
            actor?: string;
        };
        KeyRotation: {
            reason: string;
            actor?: string;
            overlap?: string;
        };
        KeyControl: {
            reason: string;
            actor?: string;
        };
        Gone: {
            id: string;
        };
        StreamEnd: {
            code: string;
            again: boolean;
        };
        Counts: {
            tasks: number;
            ready: number;
            work: number;
            inbox: number;
            truncated?: ("tasks" | "ready" | "work" | "inbox")[];
        };
        TaskInfo: {
            id: string;
            workflow: string;
            version: string;
            /** @enum {string} */
            status: "scheduled" | "pending" | "planning" | "planned" | "running" | "paused" | "compensating" | "stopped";
            /** @enum {string} */
            outcome: "pending" | "success" | "warning" | "error" | "cancelled" | "compensated";
            failures: number;
            progress?: unknown;
            output?: unknown;
            error?: components["schemas"]["Error"];
            pause?: {
                /** @enum {string} */
                cause: "operator" | "lock" | "step" | "undo" | "unknown-outcome" | "mismatch" | "error" | "quarantine";
                error?: components["schemas"]["Error"];
                reason?: string;
                actor?: string;
                step?: string;
            };
            priority: number;
            tags: {
                [key: string]: string;
            };
            parent?: string;
            lockedBy?: string;
            submittedAt: components["schemas"]["Instant"];
            updatedAt: components["schemas"]["Instant"];
            ready: boolean;
            wakeAt?: components["schemas"]["Instant"];
            /** @constant */
            quarantined?: true;
            waits?: components["schemas"]["TaskWait"][];
            pausedBy?: components["schemas"]["SettingPause"][];
            broken?: ("progress" | "output" | "error" | "pause")[];
            omitted?: ("progress" | "output")[];
        };
        Outcome: {
            /** @enum {string} */
            outcome: "pending" | "success" | "warning" | "error" | "cancelled" | "compensated";
            output?: unknown;
            error?: components["schemas"]["Error"];
        };
        Change: {
            task: components["schemas"]["TaskInfo"];
            mark: string;
        };
        StepInfo: {
            id: number;
            name: string;
            /** @enum {string} */
            operation: "run" | "undo" | "verify";
            attempt: number;
            progress?: unknown;
            error?: components["schemas"]["Error"];
            /** @enum {string} */
            held?: "operator" | "lock" | "step" | "undo" | "unknown-outcome" | "mismatch" | "error" | "quarantine";
            children?: {
                total: number | null;
                started: number;
                pending: number;
                success: number;
                failed: number;
                cancelled: number;
            };
        };
        Task: {
            id: string;
            workflow: string;
            version: string;
            /** @enum {string} */
            status: "scheduled" | "pending" | "planning" | "planned" | "running" | "paused" | "compensating" | "stopped";
            /** @enum {string} */
            outcome: "pending" | "success" | "warning" | "error" | "cancelled" | "compensated";
            failures: number;
            progress?: unknown;
            output?: unknown;
            error?: components["schemas"]["Error"];
            pause?: {
                /** @enum {string} */
                cause: "operator" | "lock" | "step" | "undo" | "unknown-outcome" | "mismatch" | "error" | "quarantine";
                error?: components["schemas"]["Error"];
                reason?: string;
                actor?: string;
                step?: string;
            };
            priority: number;
            tags: {
                [key: string]: string;
            };
            parent?: string;
            lockedBy?: string;
            submittedAt: components["schemas"]["Instant"];
            updatedAt: components["schemas"]["Instant"];
            ready: boolean;
            wakeAt?: components["schemas"]["Instant"];
            /** @constant */
            quarantined?: true;
            waits?: components["schemas"]["TaskWait"][];
            pausedBy?: components["schemas"]["SettingPause"][];
            broken?: ("progress" | "output" | "error" | "pause")[];
            omitted?: ("progress" | "output")[];
            metadata: {
                [key: string]: string;
            };
            steps: components["schemas"]["StepInfo"][];
        };
        TaskPage: {
            tasks: components["schemas"]["TaskInfo"][];
            next?: string;
            /** @constant */
            truncated?: true;
        };
        Steps: {
            steps: {
                id: number;
                action: string | null;
                fallbackOf?: string;
                name: string;
                /** @enum {string} */
                status: "waiting" | "pending" | "running" | "suspended" | "success" | "error" | "skipped" | "cancelled" | "compensating" | "compensated";
                input?: unknown;
                output?: unknown;
                error?: components["schemas"]["Error"];
                attempts: number;
                cached?: components["schemas"]["Cached"];
                requestedAt?: components["schemas"]["Instant"];
                endedAt?: components["schemas"]["Instant"];
                progress: number;
                weight: number;
                summary?: string;
                hints: string[];
                children?: {
                    total: number | null;
                    started: number;
                    pending: number;
                    success: number;
                    failed: number;
                    cancelled: number;
                };
                /** @constant */
                undoable?: true;
            }[];
            next?: number;
        };
        Plan: {
            plan: {
                steps: {
                    id: number;
                    action: string | null;
                    name: string;
                    /** @enum {string} */
                    phase: "run" | "finalize";
                    input?: unknown;
                    after: number[];
                    within: string[];
                    /** @enum {string} */
                    rescue: "skip" | "pause" | "fail" | "compensate";
                    /** @enum {string} */
                    standing: "waiting" | "ready" | "open" | "done" | "skipped";
                }[];
                output?: unknown;
            } | null;
        };
        Explanation: {
            task: string;
            workflow: string;
            status: string;
            text: string;
            reasons: ({
                code: string;
                text: string;
            } & {
                [key: string]: unknown;
            })[];
            holds: {
                lock: string;
                since: components["schemas"]["Instant"];
            }[];
        };
        Entry: {
            input?: unknown;
            id?: string;
            /** @enum {string} */
            ifExists?: "match" | "return" | "reject";
            startAt?: components["schemas"]["Instant"] | string;
            startBefore?: components["schemas"]["Instant"] | string;
            completeBy?: components["schemas"]["Instant"] | string;
            exclusive?: {
                key?: string;
                /** @enum {string} */
                ifHeld?: "queue" | "reject" | "replace";
            };
            after?: (string | {
                task: string;
                /** @enum {string} */
                on?: "success" | "end";
            })[];
            frozen?: boolean;
            priority?: number;
            tags?: {
                [key: string]: string;
            };
            metadata?: {
                [key: string]: string;
            };
        };
        Submission: {
            workflow: string;
            version?: string;
            input?: unknown;
            id?: string;
            /** @enum {string} */
            ifExists?: "match" | "return" | "reject";
            startAt?: components["schemas"]["Instant"] | string;
            startBefore?: components["schemas"]["Instant"] | string;
            completeBy?: components["schemas"]["Instant"] | string;
            exclusive?: {
                key?: string;
                /** @enum {string} */
                ifHeld?: "queue" | "reject" | "replace";
            };
            after?: (string | {
                task: string;
                /** @enum {string} */
                on?: "success" | "end";
            })[];
            frozen?: boolean;
            priority?: number;
            tags?: {
                [key: string]: string;
            };
            metadata?: {
                [key: string]: string;
            };
        };
        SubmissionList: {
            workflow: string;
            version?: string;
            tasks: components["schemas"]["Entry"][];
        };
        SubmittedList: {
            results: ({
                id: string;
                created: boolean;
            } | {
                problem: components["schemas"]["Problem"];
            })[];
        };
        Submitted: {
            id: string;
            created: boolean;
            /** @enum {string} */
            outcome?: "pending" | "success" | "warning" | "error" | "cancelled" | "compensated";
            output?: unknown;
            error?: components["schemas"]["Error"];
        };
        OperationOrder: {
            filter: string;
            /** @enum {string} */
            action: "cancel" | "pause" | "resume" | "retry" | "compensate" | "thaw" | "signal";
            options?: {
                [key: string]: unknown;
            };
            dryRun?: boolean;
            confirm?: number;
            reason?: string;
            actor?: string;
            id?: string;
        };
        Matching: {
            count: number;
            /** @constant */
            truncated?: true;
        };
        OperationReceipt: {
            id: string;
            created: boolean;
        };
        OperationCancel: {
            reason?: string;
            actor?: string;
        };
        Operation: {
            id: string;
            /** @enum {string} */
            status: "scheduled" | "pending" | "planning" | "planned" | "running" | "paused" | "compensating" | "stopped";
            /** @enum {string} */
            outcome: "pending" | "success" | "warning" | "error" | "cancelled" | "compensated";
            filter?: string;
            /** @enum {string} */
            action?: "cancel" | "pause" | "resume" | "retry" | "compensate" | "thaw" | "signal";
            options?: {
                [key: string]: unknown;
            };
            confirm?: number;
            reason?: string;
            actor?: string;
            matched?: number;
            done?: number;
            failed?: number;
            error?: components["schemas"]["Error"];
            submittedAt: components["schemas"]["Instant"];
            updatedAt: components["schemas"]["Instant"];
            cancelled?: number;
            pending?: number;
        };
        OperationPage: {
            operations: components["schemas"]["Operation"][];
            next?: string;
        };
        Principal: {
            id?: string;
            rights: ("read" | "start" | "control" | "schedules" | "breakers" | "rates" | "caches" | "alerts" | "statistics" | "agents" | "import" | "settings:read" | "settings:write" | "audit" | "keys")[];
            keys: boolean;
        };
        ProbeResult: {
            at: components["schemas"]["Instant"];
            ms: number;
            problem?: {
                /** @enum {string} */
                code: "dns" | "connect" | "timeout" | "tls" | "certificate" | "address" | "redirect" | "status" | "slow" | "content" | "health";
                message: string;
            };
            status?: number;
            address?: string;
            certificateUntil?: components["schemas"]["Instant"];
            redirects: string[];
        };
        ProbedEndpoint: {
            name: string;
            url: string;
            /** @enum {string} */
            state: "unknown" | "up" | "down";
            since: components["schemas"]["Instant"];
            streak: number;
            last?: components["schemas"]["ProbeResult"];
            lateAt: components["schemas"]["Instant"];
            history?: components["schemas"]["ProbeResult"][];
        };
        ProbePage: {
            endpoints: components["schemas"]["ProbedEndpoint"][];
            next?: string;
        };
        RateLimit: {
            name: string;
            agent: string;
            action?: string;
            key?: string;
            limit: number;
            per: number;
            burst: number;
            forced?: {
                lifted: boolean;
                limit: number;
                per: number;
                burst: number;
                until?: components["schemas"]["Instant"];
            };
            waiting: number;
            rests?: components["schemas"]["Instant"];
            changes: {
                at: components["schemas"]["Instant"];
                /** @enum {string} */
                did: "changed" | "lifted" | "restored";
                actor: string;
                reason: string;
            }[];
        };
        RateLimitPage: {
            rateLimits: components["schemas"]["RateLimit"][];
            next?: string;
        };
        RateLimitControl: {
            reason: string;
            actor?: string;
        };
        RateLimitLift: {
            reason: string;
            actor?: string;
            until?: components["schemas"]["Instant"];
        };
        RateLimitForce: {
            reason: string;
            actor?: string;
            limit: number;
            per: string;
            burst?: number;
            until?: components["schemas"]["Instant"];
        };
        Schedule: {
            name: string;
            workflow: string;
            version: string;
            input?: unknown;
            recurrence: {
                cron: string;
                timeZone: string;
            } | {
                every: number;
                offset: number;
            };
            /** @enum {string} */
            overlap: "skip" | "queue" | "allow" | "cancel-previous";
            paused?: {
                since: components["schemas"]["Instant"];
                reason?: string;
            };
            pausedBy?: components["schemas"]["SettingPause"];
            next?: components["schemas"]["Instant"];
            last?: components["schemas"]["Instant"];
            started: number;
            skipped: number;
            missed: number;
            failing?: {
                since: components["schemas"]["Instant"];
                times: number;
                error: components["schemas"]["Error"];
            };
        };
        SchedulePage: {
            schedules: components["schemas"]["Schedule"][];
            next?: string;
        };
        ScheduleDefinition: {
            workflow: string;
            version?: string;
            input?: unknown;
            cron?: string;
            timeZone?: string;
            every?: string;
            from?: components["schemas"]["Instant"];
            /** @enum {string} */
            overlap?: "skip" | "queue" | "allow" | "cancel-previous";
            catchUp?: {
                limit?: number;
                within?: string;
            };
            jitter?: string;
            priority?: number;
            tags?: {
                [key: string]: string;
            };
            metadata?: {
                [key: string]: string;
            };
        };
        SchedulePause: {
            reason?: string;
        };
        ScheduleResume: {
            reason?: string;
        };
        ScheduleRun: {
            id?: string;
            /** @enum {string} */
            overlap?: "skip" | "queue" | "allow" | "cancel-previous";
            reason?: string;
        };
        ScheduleStarted: {
            task: string;
        };
        Backfill: {
            from: components["schemas"]["Instant"];
            to: components["schemas"]["Instant"];
            /** @enum {string} */
            overlap?: "skip" | "queue" | "allow" | "cancel-previous";
            reason?: string;
        };
        Backfilled: {
            tasks: string[];
        };
        Occurrences: {
            occurrences: components["schemas"]["Instant"][];
        };
        SecretRotation: {
            reason: string;
            actor?: string;
            overlap?: string;
        };
        RotatedSecret: {
            overlapsUntil: components["schemas"]["Instant"];
        };
        Setting: {
            name: string;
            revision: number;
            live?: {
                version: number;
                value: unknown;
                at: components["schemas"]["Instant"];
                actor: string;
                reason: string;
            };
            trial?: {
                version: number;
                value: unknown;
                at: components["schemas"]["Instant"];
                actor: string;
                reason: string;
                stage: number;
                stages: number;
                since: components["schemas"]["Instant"];
                until?: components["schemas"]["Instant"];
                guards: ({
                    /** @constant */
                    metric: "failure-rate";
                    agent: string;
                    above: number;
                    minimum: number;
                } | {
                    /** @constant */
                    metric: "queue-age";
                    agent: string;
                    above: number;
                })[];
            };
            here?: {
                value: unknown;
                version: number;
                /** @enum {string} */
                origin: "default" | "environment" | "store" | "file";
                origins: {
                    [key: string]: "default" | "environment" | "store" | "file";
                };
                layers: {
                    /** @enum {string} */
                    origin: "default" | "environment" | "store" | "file";
                    value: unknown;
                }[];
            };
            nodes: {
                id: string;
                version: number;
                expected: number;
            }[];
            drift: boolean;
        };
        SettingPage: {
            settings: components["schemas"]["Setting"][];
            next?: string;
        };
        SettingHistory: {
            changes: {
                revision: number;
                /** @enum {string} */
                move: "set" | "staged" | "advanced" | "completed" | "placed" | "withdrawn" | "rolled-back" | "cleared";
                version?: number;
                value?: unknown;
                at: components["schemas"]["Instant"];
                actor: string;
                reason: string;
            }[];
            next?: number;
        };
        SettingValue: {
            value: unknown;
            reason: string;
            actor?: string;
            expected?: number;
            stages?: {
                share?: number;
                labels?: {
                    [key: string]: string;
                };
                lasts?: string;
            }[];
            guards?: ({
                /** @constant */
                metric: "failure-rate";
                agent: string;
                above: number;
                minimum: number;
            } | {
                /** @constant */
                metric: "queue-age";
                agent: string;
                above: number;
            })[];
        };
        SettingPart: {
            part: {
                [key: string]: unknown;
            };
            reason: string;
            actor?: string;
            expected?: number;
            stages?: {
                share?: number;
                labels?: {
                    [key: string]: string;
                };
                lasts?: string;
            }[];
            guards?: ({
                /** @constant */
                metric: "failure-rate";
                agent: string;
                above: number;
                minimum: number;
            } | {
                /** @constant */
                metric: "queue-age";
                agent: string;
                above: number;
            })[];
        };
        SettingAdvance: {
            reason: string;
            actor?: string;
            expected?: number;
            all?: boolean;
        };
        SettingRollback: {
            reason: string;
            actor?: string;
            expected?: number;
            to?: number;
        };
        SettingWord: {
            reason: string;
            actor?: string;
            expected?: number;
        };
        Figures: {
            rows: {
                hour?: components["schemas"]["Instant"];
                /** @enum {string} */
                kind?: "task" | "step" | "attempt";
                workflow?: string;
                agent?: string;
                action?: string;
                outcome?: string;
                error?: string;
                tag?: string;
                count: number;
                timed: number;
                mean: number | null;
                p50: number | null;
                p95: number | null;
                p99: number | null;
            }[];
            truncated: boolean;
            asOf: components["schemas"]["Instant"] | null;
            behind: number | null;
            recount?: {
                since: components["schemas"]["Instant"];
                share: number;
            };
        };
        RecountOrder: {
            reason?: string;
            actor?: string;
        };
        Workflows: {
            workflows: {
                name: string;
                pausedBy?: components["schemas"]["SettingPause"];
                closedBy?: components["schemas"]["SettingPause"];
                versions: {
                    version: string;
                    /** @enum {string} */
                    kind?: "function" | "plan";
                    /** @constant */
                    startable?: true;
                    input?: unknown;
                    output?: unknown;
                    signals?: {
                        [key: string]: {
                            payload?: unknown;
                        };
                    };
                    nodes: string[];
                }[];
            }[];
            next?: string;
        };
        Agents: {
            agents: {
                name: string;
                actions: string[];
                pausedBy?: components["schemas"]["SettingPause"];
                nodes: {
                    id: string;
                    slots?: number;
                    pools?: {
                        high: number;
                        rest: number;
                    };
                }[];
                shared?: number;
                queue: {
                    depth: number;
                    /** @constant */
                    truncated?: true;
                    oldest?: {
                        task: string;
                        step: number;
                        since?: components["schemas"]["Instant"];
                    };
                };
            }[];
            next?: string;
        };
        Demand: {
            agents: {
                agent: string;
                waiting: number;
                /** @constant */
                truncated?: true;
                since?: components["schemas"]["Instant"];
                running: number;
                has: {
                    slots: number;
                    processes: number;
                };
                wanted: {
                    slots: number;
                    processes: number;
                };
                held?: {
                    /** @enum {string} */
                    by: "breaker" | "rate" | "concurrency";
                    until?: components["schemas"]["Instant"];
                };
            }[];
            schedulers: {
                workflow: string;
                version: string;
                waiting: number;
                /** @constant */
                truncated?: true;
                since?: components["schemas"]["Instant"];
                running: number;
                has: {
                    slots: number;
                    processes: number;
                };
                wanted: {
                    slots: number;
                    processes: number;
                };
            }[];
            /** @constant */
            truncated?: true;
        };
        Locks: {
            locks: {
                name: string;
                holder: string;
                since: components["schemas"]["Instant"];
                fence?: number;
                waiting: number;
                /** @constant */
                truncated?: true;
                next: {
                    task: string;
                    since: components["schemas"]["Instant"];
                }[];
            }[];
            next?: string;
        };
        Leaders: {
            leaders: {
                name: string;
                node?: string;
                token: number;
            }[];
            next?: string;
        };
        Nodes: {
            nodes: {
                id: string;
                roles: string[];
                startedAt: components["schemas"]["Instant"];
                leaseUntil: components["schemas"]["Instant"];
                place?: {
                    host: string;
                    pid: number;
                };
                runs?: {
                    workflows: string[];
                    actions: string[];
                };
                labels: {
                    [key: string]: string;
                };
                settings: {
                    [key: string]: number;
                };
            }[];
        };
        Statistics: {
            tasks: number;
            ready: number;
            work: number;
            inbox: number;
            truncated?: ("tasks" | "ready" | "work" | "inbox")[];
            stale: number;
            fenced: number;
        };
        HistoryPolicy: {
            attemptWithin?: number;
            stepWithin?: number;
            heartbeatWithin?: number;
            retry?: {
                attempts?: number;
                backoff?: {
                    initial?: number;
                    factor?: number;
                    max?: number;
                    jitter?: boolean;
                };
            };
            undoRetry?: {
                attempts?: number;
                backoff?: {
                    initial?: number;
                    factor?: number;
                    max?: number;
                    jitter?: boolean;
                };
            };
            rescue?: ("skip" | "pause" | "fail" | "compensate") | {
                skip: unknown;
            };
            /** @enum {string} */
            semantics?: "at-least-once" | "at-most-once";
            priority?: number;
            weight?: number;
        };
        HistoryEvent: {
            /** @constant */
            type: "submitted";
            workflow: string;
            version: string;
            input: unknown;
            startAt?: components["schemas"]["Instant"];
            startBefore?: components["schemas"]["Instant"];
            completeBy?: components["schemas"]["Instant"];
            priority?: number;
            tags?: {
                [key: string]: string;
            };
            share?: {
                key: string;
                weight: number;
            };
            metadata?: {
                [key: string]: string;
            };
            exclusive?: {
                key: string;
                /** @enum {string} */
                ifHeld: "queue" | "reject" | "replace";
            }[];
            after?: {
                task: string;
                /** @enum {string} */
                on: "success" | "end";
            }[];
            /** @constant */
            frozen?: true;
            parent?: {
                task: string;
                step: number;
            };
        } | {
            /** @constant */
            type: "thawed";
            startAt?: components["schemas"]["Instant"];
            reason?: string;
            actor?: string;
        } | {
            /** @constant */
            type: "predecessorStopped";
            task: string;
            /** @enum {string} */
            outcome?: "pending" | "success" | "warning" | "error" | "cancelled" | "compensated";
        } | {
            /** @constant */
            type: "planning";
        } | {
            /** @constant */
            type: "planned";
            plan: {
                steps: {
                    id: number;
                    action: string | null;
                    name: string;
                    /** @enum {string} */
                    phase: "run" | "finalize";
                    input?: unknown;
                    after: number[];
                    within: string[];
                    /** @enum {string} */
                    rescue: "skip" | "pause" | "fail" | "compensate";
                    /** @enum {string} */
                    standing: "waiting" | "ready" | "open" | "done" | "skipped";
                }[];
                output?: unknown;
            };
        } | {
            /** @constant */
            type: "started";
            completeBy?: components["schemas"]["Instant"];
        } | {
            /** @constant */
            type: "patched";
            patch: string;
        } | {
            /** @constant */
            type: "progressed";
            progress: unknown;
        } | {
            /** @constant */
            type: "returned";
            output: unknown;
        } | {
            /** @constant */
            type: "threw";
            error: components["schemas"]["Error"];
            /** @enum {string} */
            rescue: "skip" | "pause" | "fail" | "compensate";
        } | {
            /** @constant */
            type: "continueAsNewRequested";
            input: unknown;
        } | {
            /** @constant */
            type: "continuedAsNew";
            input: unknown;
            /** @constant */
            fromStart?: true;
            pendingSignals: {
                name: string;
                payload: unknown;
            }[];
            left?: number;
            reason?: string;
            actor?: string;
        } | {
            /** @constant */
            type: "requestReceived";
            request: string;
        } | {
            /** @constant */
            type: "messageIgnored";
            message: string;
            name?: string;
            step?: number;
            cause: string;
            reason?: string;
            actor?: string;
        } | {
            /** @constant */
            type: "paused";
            /** @enum {string} */
            cause: "operator" | "lock" | "step" | "undo" | "unknown-outcome" | "mismatch" | "error" | "quarantine";
            step?: number;
            error?: components["schemas"]["Error"];
            reason?: string;
            actor?: string;
        } | {
            /** @constant */
            type: "resumed";
            reason?: string;
            actor?: string;
        } | {
            /** @constant */
            type: "closing";
            /** @enum {string} */
            cause: "cancel" | "deadline" | "limit" | "operator";
            compensate: boolean;
            error?: components["schemas"]["Error"];
            reason?: string;
            actor?: string;
        } | {
            /** @constant */
            type: "compensating";
        } | {
            /** @constant */
            type: "adopted";
            parent: {
                task: string;
                step: number;
            };
        } | {
            /** @constant */
            type: "stopped";
            /** @enum {string} */
            outcome: "pending" | "success" | "warning" | "error" | "cancelled" | "compensated";
            output?: unknown;
            error?: components["schemas"]["Error"];
        } | {
            /** @constant */
            type: "reset";
            step?: number;
            input?: unknown;
            reason?: string;
            actor?: string;
        } | {
            /** @constant */
            type: "stepRequested";
            id: number;
            action: string | null;
            name: string;
            input: unknown;
            policy: components["schemas"]["HistoryPolicy"];
        } | {
            /** @constant */
            type: "stepCompleted";
            id: number;
            output: unknown;
            /** @enum {string} */
            by?: "verify" | "operator";
            attempt: number;
            startedAt?: components["schemas"]["Instant"];
            endedAt: components["schemas"]["Instant"];
            node?: string;
            cached?: components["schemas"]["Cached"];
        } | {
            /** @constant */
            type: "attemptFailed";
            id: number;
            /** @enum {string} */
            operation: "run" | "verify" | "undo";
            error: components["schemas"]["Error"];
            /** @constant */
            unknown?: true;
            /** @enum {string} */
            lost?: "death" | "silence" | "alive" | "stop";
            next?: {
                /** @enum {string} */
                operation: "run" | "verify" | "undo";
                at: components["schemas"]["Instant"];
            };
            attempt: number;
            startedAt?: components["schemas"]["Instant"];
            endedAt: components["schemas"]["Instant"];
            node?: string;
            cached?: components["schemas"]["Cached"];
        } | {
            /** @constant */
            type: "verifyRequested";
            id: number;
            at: components["schemas"]["Instant"];
        } | {
            /** @constant */
            type: "fallbackRequested";
            id: number;
            action: string;
            at: components["schemas"]["Instant"];
        } | {
            /** @constant */
            type: "verified";
            id: number;
            /** @enum {string} */
            answer: "not-done" | "unknown";
            next?: {
                /** @enum {string} */
                operation: "run" | "verify" | "undo";
                at: components["schemas"]["Instant"];
            };
        } | {
            /** @constant */
            type: "heartbeat";
            id: number;
            attempt: number;
            progress?: unknown;
            checkpoint?: unknown;
        } | {
            /** @constant */
            type: "stepFailed";
            id: number;
            error: components["schemas"]["Error"];
        } | {
            /** @constant */
            type: "plannedStepFailed";
            id: number;
            error: components["schemas"]["Error"];
        } | {
            /** @constant */
            type: "stepSkipped";
            id: number;
            output?: unknown;
            cascade?: number[];
            /** @enum {string} */
            by: "rescue" | "operator";
            reason?: string;
            actor?: string;
        } | {
            /** @constant */
            type: "stepCancelled";
            id: number;
        } | {
            /** @constant */
            type: "stepRetried";
            id: number;
            input?: unknown;
            at: components["schemas"]["Instant"];
            reason?: string;
            actor?: string;
        } | {
            /** @constant */
            type: "stepSuspended";
            id: number;
            until?: components["schemas"]["Instant"];
            selfSignals?: {
                name: string;
                payload: unknown;
                at: components["schemas"]["Instant"];
            }[];
            checkpoint?: unknown;
            progress?: unknown;
            /** @constant */
            onCancel?: true;
            total?: number;
            attempt: number;
            startedAt?: components["schemas"]["Instant"];
            endedAt: components["schemas"]["Instant"];
            node?: string;
            cached?: components["schemas"]["Cached"];
        } | {
            /** @constant */
            type: "stepSignalled";
            id: number;
            name: string;
            payload: unknown;
            selfSignalAt?: components["schemas"]["Instant"];
            /** @constant */
            queued?: true;
            reason?: string;
            actor?: string;
        } | {
            /** @constant */
            type: "undoRegistered";
            id: number;
            name: string;
            policy?: components["schemas"]["HistoryPolicy"];
        } | {
            /** @constant */
            type: "undoRequested";
            id: number;
            at: components["schemas"]["Instant"];
        } | {
            /** @constant */
            type: "undone";
            id: number;
            /** @constant */
            by?: "operator";
            /** @constant */
            incomplete?: true;
            attempt: number;
            startedAt?: components["schemas"]["Instant"];
            endedAt: components["schemas"]["Instant"];
            node?: string;
            cached?: components["schemas"]["Cached"];
            reason?: string;
            actor?: string;
        } | {
            /** @constant */
            type: "stepCarried";
            id: number;
            action: string | null;
            name: string;
            input: unknown;
            output: unknown;
            policy: components["schemas"]["HistoryPolicy"];
        } | {
            /** @constant */
            type: "timerStarted";
            id: number;
            until: components["schemas"]["Instant"];
        } | {
            /** @constant */
            type: "timerFired";
            id: number;
        } | {
            /** @constant */
            type: "waitStarted";
            id: number;
            name: string;
            until?: components["schemas"]["Instant"];
        } | {
            /** @constant */
            type: "waitTimedOut";
            id: number;
        } | {
            /** @constant */
            type: "waitCancelled";
            id: number;
            /** @constant */
            lock?: true;
            signal?: {
                name: string;
                payload: unknown;
            };
        } | {
            /** @constant */
            type: "signalReceived";
            name: string;
            payload: unknown;
            reason?: string;
            actor?: string;
        } | {
            /** @constant */
            type: "childStarted";
            id: number;
            task: string;
            workflow: string;
            version: string;
            /** @enum {string} */
            mode: "call" | "start";
            /** @enum {string} */
            onCancel: "cancel" | "detach" | "wait";
            undo: boolean;
        } | {
            /** @constant */
            type: "childCarried";
            id: number;
            task: string;
            workflow: string;
            /** @enum {string} */
            mode: "call" | "start";
            /** @enum {string} */
            onCancel: "cancel" | "detach" | "wait";
            undo: boolean;
        } | {
            /** @constant */
            type: "childStopped";
            id: number;
            /** @enum {string} */
            outcome: "pending" | "success" | "warning" | "error" | "cancelled" | "compensated";
            output?: unknown;
            error?: components["schemas"]["Error"];
        } | {
            /** @constant */
            type: "batchAdvanced";
            id: number;
            ended?: {
                from: number;
                to: number;
                /** @enum {string} */
                outcome: "pending" | "success" | "warning" | "error" | "cancelled" | "compensated";
            }[];
            refused?: number[];
            started?: number;
            retried?: number;
            left?: number;
            error?: components["schemas"]["Error"];
        } | {
            /** @constant */
            type: "batchStopping";
            id: number;
            error?: components["schemas"]["Error"];
        } | {
            /** @constant */
            type: "locksRequested";
        } | {
            /** @constant */
            type: "lockRequested";
            id: number;
            name: string;
            until?: components["schemas"]["Instant"];
        } | {
            /** @constant */
            type: "lockGranted";
            id: number;
            fence?: number;
        } | {
            /** @constant */
            type: "lockRefused";
            id: number;
            error: components["schemas"]["Error"];
        } | {
            /** @constant */
            type: "lockReleased";
            lock: number;
            id?: number;
        };
        History: {
            records: {
                seq: number;
                error?: components["schemas"]["Error"];
                missing?: {
                    from: number;
                    to: number;
                };
                at: components["schemas"]["Instant"];
                events: components["schemas"]["HistoryEvent"][];
            }[];
            next?: number;
        };
        Export: {
            format: number;
            task: string;
            veiled: boolean;
            records: {
                seq: number;
                error?: components["schemas"]["Error"];
                missing?: {
                    from: number;
                    to: number;
                };
                at: number;
                events: unknown[];
            }[];
            next?: number;
        };
        ImportOrder: {
            history: {
                format: number;
                task: string;
                veiled: boolean;
                records: {
                    seq: number;
                    error?: components["schemas"]["Error"];
                    missing?: {
                        from: number;
                        to: number;
                    };
                    at: number;
                    events: unknown[];
                }[];
            };
            paused?: boolean;
            reason?: string;
            actor?: string;
        };
        Moment: {
            seq: number;
            at: components["schemas"]["Instant"];
            last: number;
            run: number;
            events: components["schemas"]["HistoryEvent"][];
            /** @enum {string} */
            status: "scheduled" | "pending" | "planning" | "planned" | "running" | "paused" | "compensating" | "stopped";
            /** @enum {string} */
            outcome: "pending" | "success" | "warning" | "error" | "cancelled" | "compensated";
            failures: number;
            progress?: unknown;
            output?: unknown;
            error?: components["schemas"]["Error"];
            pause?: {
                /** @enum {string} */
                cause: "operator" | "lock" | "step" | "undo" | "unknown-outcome" | "mismatch" | "error" | "quarantine";
                error?: components["schemas"]["Error"];
                reason?: string;
                actor?: string;
                step?: string;
            };
            steps: {
                id: number;
                action: string | null;
                fallbackOf?: string;
                name: string;
                /** @enum {string} */
                status: "waiting" | "pending" | "running" | "suspended" | "success" | "error" | "skipped" | "cancelled" | "compensating" | "compensated";
                input?: unknown;
                output?: unknown;
                error?: components["schemas"]["Error"];
                attempts: number;
                cached?: components["schemas"]["Cached"];
                requestedAt?: components["schemas"]["Instant"];
                endedAt?: components["schemas"]["Instant"];
                progress: number;
                weight: number;
                summary?: string;
                hints: string[];
                children?: {
                    total: number | null;
                    started: number;
                    pending: number;
                    success: number;
                    failed: number;
                    cancelled: number;
                };
                /** @constant */
                undoable?: true;
            }[];
            next?: number;
        };
    };
    responses: {
        /** @description A problem: `code` says which */
        Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    watchTasks: {
        parameters: {
            query?: {
                filter?: string;
                limit?: number;
            };
            header?: {
                /** @description The id of the last event that was read: if nothing changed since, nothing is told again. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events. The last event of a stream that the server ends is `end`, and says whether to ask again. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    watchTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the last event that was read: if nothing changed since, nothing is told again. */
                "Last-Event-ID"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events. The last event of a stream that the server ends is `end`, and says whether to ask again. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description It has stopped, and `Last-Event-ID` says that this is known */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    watchLogs: {
        parameters: {
            query?: {
                step?: number;
                attempt?: number;
                level?: "debug" | "info" | "warn" | "error";
                after?: number;
                limit?: number;
            };
            header?: {
                /** @description The id of the last event that was read: what comes after that is told. */
                "Last-Event-ID"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events. The last event of a stream that the server ends is `end`, and says whether to ask again. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description It has stopped, and `Last-Event-ID` says that its last line was read */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    watchStatistics: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the last event that was read: if nothing changed since, nothing is told again. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events. The last event of a stream that the server ends is `end`, and says whether to ask again. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listTasks: {
        parameters: {
            query?: {
                filter?: string;
                status?: ("scheduled" | "pending" | "planning" | "planned" | "running" | "paused" | "compensating" | "stopped")[];
                outcome?: ("pending" | "success" | "warning" | "error" | "cancelled" | "compensated")[];
                workflow?: string;
                version?: string;
                parent?: string;
                quarantined?: "true";
                tags?: {
                    [key: string]: string;
                };
                submittedAfter?: string;
                submittedBefore?: string;
                cursor?: string;
                limit?: number;
                order?: "newest" | "oldest";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the cursor of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    submitTask: {
        parameters: {
            query?: {
                wait?: string;
            };
            header?: {
                /** @description The id of the task, when the body gives none: sent again, it is the same task. */
                "Idempotency-Key"?: string;
                /** @description W3C trace context: the task is part of this trace, unless its metadata names another. */
                traceparent?: string;
                /** @description W3C trace context. */
                tracestate?: string;
                /** @description W3C baggage, for every attempt of the task. */
                baggage?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Submission"];
            };
        };
        responses: {
            /** @description It is there already, with the same workflow and input */
            200: {
                headers: {
                    /** @description Where the task is, relative to the URL that was asked */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Submitted"];
                };
            };
            /** @description It is new */
            201: {
                headers: {
                    /** @description Where the task is, relative to the URL that was asked */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Submitted"];
                };
            };
            /** @description It has not stopped within `wait`: ask at `Location` */
            202: {
                headers: {
                    /** @description Where the task is, relative to the URL that was asked */
                    Location?: string;
                    /** @description When to ask again (s) */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Submitted"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    submitTasks: {
        parameters: {
            query?: never;
            header?: {
                /** @description W3C trace context: the task is part of this trace, unless its metadata names another. */
                traceparent?: string;
                /** @description W3C trace context. */
                tracestate?: string;
                /** @description W3C baggage, for every attempt of the task. */
                baggage?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubmissionList"];
            };
        };
        responses: {
            /** @description What became of each, in the order of the list: it is there, or a problem */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmittedList"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getTask: {
        parameters: {
            query?: {
                wait?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getOutcome: {
        parameters: {
            query?: {
                wait?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It has stopped */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Outcome"];
                };
            };
            /** @description It has not stopped: ask again */
            202: {
                headers: {
                    /** @description When to ask again (s) */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getChange: {
        parameters: {
            query?: {
                wait?: string;
                after?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task; `mark` stands for how it is now: the `after` of the next request */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Change"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getSteps: {
        parameters: {
            query?: {
                after?: number;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Steps that come after `after`; `next` is the `after` of the next page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Steps"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getMoment: {
        parameters: {
            query?: {
                after?: number;
                limit?: number;
                at?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As of record `at`, or of the last one: its steps that come after `after`; `next` is the `after` of the next page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Moment"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getHistory: {
        parameters: {
            query?: {
                after?: number;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Records that come after `after`; `next` is the `after` of the next page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["History"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    exportTask: {
        parameters: {
            query?: {
                after?: number;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Records that come after `after`; `next` is the `after` of the next page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Export"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    importTask: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImportOrder"];
            };
        };
        responses: {
            /** @description It is here already, with the same history */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Submitted"];
                };
            };
            /** @description It is new */
            201: {
                headers: {
                    /** @description Where the task is, relative to the URL that was asked */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Submitted"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getLogs: {
        parameters: {
            query?: {
                step?: number;
                attempt?: number;
                level?: "debug" | "info" | "warn" | "error";
                after?: number;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `last` is the `after` of what comes, `next` of what there is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its plan; null for a function, and before it is planned */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listChildren: {
        parameters: {
            query?: {
                status?: ("scheduled" | "pending" | "planning" | "planned" | "running" | "paused" | "compensating" | "stopped")[];
                outcome?: ("pending" | "success" | "warning" | "error" | "cancelled" | "compensated")[];
                workflow?: string;
                cursor?: string;
                limit?: number;
                step?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the cursor of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    explainTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What it waits for */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Explanation"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    cancelTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: sent again, it changes nothing. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Cancel"];
            };
        };
        responses: {
            /** @description It is recorded, and happens when a scheduler takes the task up */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    pauseTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: sent again, it changes nothing. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Pause"];
            };
        };
        responses: {
            /** @description It is recorded, and happens when a scheduler takes the task up */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    resumeTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: sent again, it changes nothing. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Resume"];
            };
        };
        responses: {
            /** @description It is recorded, and happens when a scheduler takes the task up */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    retryTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: sent again, it changes nothing. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Retry"];
            };
        };
        responses: {
            /** @description It is recorded, and happens when a scheduler takes the task up */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    skipTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: sent again, it changes nothing. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Skip"];
            };
        };
        responses: {
            /** @description It is recorded, and happens when a scheduler takes the task up */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    compensateTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: sent again, it changes nothing. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Compensate"];
            };
        };
        responses: {
            /** @description It is recorded, and happens when a scheduler takes the task up */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    thawTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: sent again, it changes nothing. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Thaw"];
            };
        };
        responses: {
            /** @description It is recorded, and happens when a scheduler takes the task up */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    signalTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: sent again, it changes nothing. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Signal"];
            };
        };
        responses: {
            /** @description It is recorded, and happens when a scheduler takes the task up */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    resumeStep: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: sent again, it changes nothing. */
                "Idempotency-Key"?: string;
                /** @description The token, where the body does not have it. */
                "Triarch-Token"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TokenUse"];
            };
        };
        responses: {
            /** @description It is recorded: the step runs again as soon as it is suspended */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            410: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    resumeStepByPath: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: sent again, it changes nothing. */
                "Idempotency-Key"?: string;
            };
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Token"];
            };
        };
        responses: {
            /** @description It is recorded: the step runs again as soon as it is suspended */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            410: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listOperations: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    startOperation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the operation, when the body gives none: sent again, it is the same one. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OperationOrder"];
            };
        };
        responses: {
            /** @description A dry run: so many tasks fit now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Matching"];
                };
            };
            /** @description It is new, or was begun by the same order */
            201: {
                headers: {
                    /** @description Where the task is, relative to the URL that was asked */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationReceipt"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getOperation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The operation */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    cancelOperation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["OperationCancel"];
            };
        };
        responses: {
            /** @description It is recorded */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listSchedules: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SchedulePage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    putSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleDefinition"];
            };
        };
        responses: {
            /** @description The schedule that was there, as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            /** @description It is new */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    deleteSchedule: {
        parameters: {
            query?: {
                reason?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    pauseSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SchedulePause"];
            };
        };
        responses: {
            /** @description The schedule as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    resumeSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScheduleResume"];
            };
        };
        responses: {
            /** @description The schedule as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    backfillSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Backfill"];
            };
        };
        responses: {
            /** @description The ids of their tasks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfilled"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    runSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScheduleRun"];
            };
        };
        responses: {
            /** @description The id of the task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleStarted"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    nextOccurrences: {
        parameters: {
            query?: {
                count?: number;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Instants, the earliest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Occurrences"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listWorkflows: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflows"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listAgents: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agents"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getDemand: {
        parameters: {
            query?: {
                within?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What there is, and what should be there */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Demand"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listLocks: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Locks"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listLeaders: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Leaders"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listNodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Each life of a node has an id of its own */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Nodes"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getStatistics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Counts; those named in `truncated` are lower bounds */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Statistics"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    countTasks: {
        parameters: {
            query?: {
                filter?: string;
                most?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description So many; `truncated`: or more */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Matching"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listBreakers: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BreakerPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getBreaker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The circuit breaker */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Breaker"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    openBreaker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BreakerOpening"];
            };
        };
        responses: {
            /** @description The circuit breaker as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Breaker"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    closeBreaker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BreakerControl"];
            };
        };
        responses: {
            /** @description The circuit breaker as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Breaker"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    resetBreaker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BreakerControl"];
            };
        };
        responses: {
            /** @description The circuit breaker as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Breaker"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listRateLimits: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateLimitPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getRateLimit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rate limit */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateLimit"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    changeRateLimit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RateLimitForce"];
            };
        };
        responses: {
            /** @description The rate limit as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateLimit"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    liftRateLimit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RateLimitLift"];
            };
        };
        responses: {
            /** @description The rate limit as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateLimit"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    restoreRateLimit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RateLimitControl"];
            };
        };
        responses: {
            /** @description The rate limit as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateLimit"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listAlerts: {
        parameters: {
            query?: {
                ended?: boolean;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The alert */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    testAlert: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AlertTest"];
            };
        };
        responses: {
            /** @description Each that was tried; none: this process watches for nothing */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertTrials"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    acknowledgeAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertControl"];
            };
        };
        responses: {
            /** @description The alert as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    silenceAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertSilence"];
            };
        };
        responses: {
            /** @description The alert as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    endAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertControl"];
            };
        };
        responses: {
            /** @description The alert as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It does */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Probe"];
                };
            };
            400: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It can */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Probe"];
                };
            };
            400: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            /** @description It cannot now; or a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Probe"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: {
                check?: string[];
                report?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Well, or not so bad as `unhealthyAt` of the server says */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            /** @description Not well; or a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listProbes: {
        parameters: {
            query?: {
                name?: string[];
                history?: boolean;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProbePage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    invalidateAnswers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Invalidation"];
            };
        };
        responses: {
            /** @description No node gives an answer that was asked for before */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listSettings: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getSetting: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The setting */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setting"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    setSetting: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingValue"];
            };
        };
        responses: {
            /** @description The setting as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setting"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getSettingHistory: {
        parameters: {
            query?: {
                cursor?: number;
                limit?: number;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingHistory"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    changeSetting: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingPart"];
            };
        };
        responses: {
            /** @description The setting as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setting"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    advanceSetting: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingAdvance"];
            };
        };
        responses: {
            /** @description The setting as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setting"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    rollbackSetting: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingRollback"];
            };
        };
        responses: {
            /** @description The setting as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setting"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    clearSetting: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingWord"];
            };
        };
        responses: {
            /** @description The setting as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setting"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getFigures: {
        parameters: {
            query?: {
                by?: (("hour" | "kind" | "workflow" | "agent" | "action" | "outcome" | "error" | "tag") | "none")[];
                kind?: "task" | "step" | "attempt";
                workflow?: string;
                agent?: string;
                action?: string;
                outcome?: string;
                error?: string;
                tag?: string;
                from?: string;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Rows in the order of `by`; `asOf` null: nobody counts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Figures"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    recount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RecountOrder"];
            };
        };
        responses: {
            /** @description It will be: the supervisor does it */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                actor?: string;
                action?: string;
                subject?: string;
                since?: string;
                until?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    listKeys: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; `next` is the `cursor` of the next one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyCreation"];
            };
        };
        responses: {
            /** @description The key; `secret` is what its holder sends */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedKey"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyRotation"];
            };
        };
        responses: {
            /** @description The key; `secret` is what its holder sends from now on */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedKey"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyControl"];
            };
        };
        responses: {
            /** @description The key as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    rotateSecret: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SecretRotation"];
            };
        };
        responses: {
            /** @description Until when what was signed before is taken */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedSecret"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    getPrincipal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No `id`: nobody is asked who they are. `keys`: API keys of the store are taken here */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Principal"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
    exchangeWithAgents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentExchange"];
            };
        };
        responses: {
            /** @description What was not seen yet; after `wait` ms at the latest */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerExchange"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            414: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            421: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            500: components["responses"]["Problem"];
            503: components["responses"]["Problem"];
        };
    };
}
