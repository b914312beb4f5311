const en = {
  alerts: 'Alerts',
  alert: 'Alert',
  owner: 'Owner',
  silentUntil: 'Silenced until',
  endedAlerts: 'Show resolved alerts',
  noAlerts: 'No active alerts.',
  noEndedAlerts: 'No resolved alerts.',
  hours: 'Duration in hours',
  hoursWrong: 'Enter a number of hours above 0, up to 10,000.',
  sinks: {
    test: 'Send test notification',
    will: 'Sends a test notification to every sink of this server: mail, webhook, pager.',
    sink: 'Sink',
    said: 'Answer',
    told: (ms: number) => `delivered in ${ms} ms`,
    none: 'No sink on this server: it was started without `alerts`.',
  },
}

const de: typeof en = {
  alerts: 'Alarme',
  alert: 'Alarm',
  owner: 'In der Hand von',
  silentUntil: 'Stumm bis',
  endedAlerts: 'Die vorbei sind',
  noAlerts: 'Nichts ist verkehrt, worauf jemand achtet.',
  noEndedAlerts: 'Kein Alarm ist vorbei.',
  hours: 'Für so viele Stunden',
  hoursWrong: 'Die Stunden müssen eine Zahl über 0 sein, bis 10.000.',
  sinks: {
    test: 'Empfänger prüfen',
    will: 'Jeder Empfänger des Prozesses, der antwortet, erfährt, dass ihn jemand prüft: eine Mail, ein Ruf des Pagers.',
    sink: 'Empfänger',
    said: 'Was er geantwortet hat',
    told: (ms) => `erreicht, in ${ms} ms`,
    none: 'Es gibt keinen Empfänger: der Prozess, der antwortet, hat kein `alerts`.',
  },
}

/** What is wrong, and who is told. */
export const alert = { en, de }
