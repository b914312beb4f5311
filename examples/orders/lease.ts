// Short, so that a demonstration need not wait long for the dead to be noticed. What a dead node had asked of a service is
// looked up after the lease, so let it outlast every request: half as long again as `attemptWithin` is enough.

export const lease = { lease: '1500ms', sweep: '250ms', poll: '10ms', grace: '3s' } as const
