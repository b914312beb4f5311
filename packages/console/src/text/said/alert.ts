/** What the rules of alerts find, by their names; the alert itself says the figures, in English. */
export const alert: Readonly<Record<string, (subject: string) => string>> = {
  stuck: (subject) => `Aufgabe ${subject} kommt nicht voran.`,
  'failure-rate': (subject) => `Zu viele Aufgaben von ${subject} schlagen fehl.`,
  'queue-age': (subject) => `Aufträge für Agent ${subject} warten zu lange.`,
  'no-agent': (subject) => `Niemand führt Agent ${subject} aus, und Aufträge warten.`,
  'missed-schedule': (subject) => `Zeitplan ${subject} war fällig und hat nichts gestartet.`,
  'undo-failed': (subject) => `Aufgabe ${subject} ist angehalten: Etwas ließ sich nicht rückgängig machen.`,
  quarantine: (subject) => `Aufgabe ${subject} wurde abgesondert.`,
  flapping: (subject) => `Auf ${subject} sterben Knoten immer wieder.`,
  'node-lost': (subject) => `Auf ${subject} ist ein Knoten ausgefallen, und keiner hat dort wieder begonnen.`,
  'breaker-open': (subject) => `Die Sicherung von ${subject} ist offen.`,
  'probe-down': (subject) => `Endpunkt ${subject} antwortet nicht, oder niemand prüft ihn.`,
  check: (subject) => `Die Prüfung ${subject} findet etwas.`,
}
