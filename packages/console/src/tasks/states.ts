export const statuses = ['running', 'paused', 'compensating', 'scheduled', 'planned', 'pending', 'stopped'] as const
export const outcomes = ['success', 'warning', 'error', 'cancelled', 'compensated'] as const
