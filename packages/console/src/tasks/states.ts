export const statuses = ['running', 'paused', 'compensating', 'scheduled', 'pending', 'stopped'] as const
export const outcomes = ['success', 'warning', 'error', 'cancelled', 'compensated'] as const
