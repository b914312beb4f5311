const en = {
  alerts: 'Alerts',
  alert: 'Alert',
  owner: 'Owner',
  silentUntil: 'Silent until',
  endedAlerts: 'Those that are over',
  noAlerts: 'Nothing is wrong that anybody watches for.',
  noEndedAlerts: 'No alert is over.',
  hours: 'For so many hours',
  hoursWrong: 'The hours must be a number above 0, up to 10,000.',
  sinks: {
    test: 'Try the sinks',
    will: 'Each sink of the process that answers is told that somebody tries it: a mail, a call of a pager.',
    sink: 'Sink',
    said: 'What it answered',
    told: (ms: number) => `told, in ${ms} ms`,
    none: 'There is no sink: the process that answers has no `alerts`.',
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
