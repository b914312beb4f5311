/** What a message of a check is made of. */
export type Details = Readonly<Record<string, string | number | boolean>>

const list = ({ names, more }: Details) => `${names}${Number(more) > 0 ? ` und ${more} weitere` : ''}`

/** What the checks of health say, by their codes. In English they say it themselves. */
export const health: Readonly<Record<string, (of: Details) => string>> = {
  stopping: () => 'dieser Prozess hört auf',
  'no-role': () => 'dieser Prozess hat keine Rolle',
  'node-unknown': ({ node }) => `der Speicher kennt Knoten ${node} nicht`,
  'lease-ended': ({ node, ms }) => `die Frist von Knoten ${node} ist seit ${ms} ms abgelaufen`,
  'loop-blocked': ({ ms, seconds }) =>
    `die Ereignisschleife dieses Prozesses war vor ${seconds} s für ${ms} ms blockiert`,
  'no-leader': () => 'kein Supervisor führt',
  'no-sweep': ({ dead }) => `der Führende räumt nicht auf: ${dead} tote Knoten sind eingetragen`,
  'no-scheduler': () => 'kein Planer lebt: keine Aufgabe geht weiter',
  'roles-missing': ({ roles }) => `kein Knoten hat die Rolle ${roles}`,
  'leases-ended': (of) => `abgelaufen sind die Fristen von ${list(of)}`,
  'timers-late': ({ seconds }) => `eine Aufgabe hätte vor ${seconds} s weitergehen sollen`,
  'task-waits': ({ task, workflow, version, seconds }) =>
    `Aufgabe „${task}“ von ${workflow}@${version} wartet seit ${seconds} s auf einen Planer`,
  'requests-wait': (of) => `Aufträge warten bis zu ${of.seconds} s, auf ${list(of)}`,
  'nobody-hosts': (of) => `niemand führt ${list(of)} aus, und Aufträge warten`,
  'breakers-open': (of) => `offen: ${list(of)}`,
  'schedules-late': (of) => `Zeitpläne waren fällig und haben nichts gestartet: ${list(of)}`,
  'settings-drift': (of) => `Knoten haben andere Fassungen von Einstellungen, als sie sollten: ${list(of)}`,
  'read-slow': ({ ms, most }) => `Lesen dauerte ${ms} ms, mehr als ${most}`,
  'commit-slow': ({ ms, most }) => `Schreiben dauerte ${ms} ms, mehr als ${most}`,
  'clock-ahead': ({ ms }) => `die Uhr dieser Maschine geht gegen die des Speichers ${ms} ms vor`,
  'clock-behind': ({ ms }) => `die Uhr dieser Maschine geht gegen die des Speichers ${ms} ms nach`,
  'disk-unseen': () => 'von hier nicht zu sehen',
  'disk-low': ({ mebibytes, path }) => `neben „${path}“ sind ${mebibytes} MiB frei`,
  none: () => 'gibt es nicht',
  'calls-wait': ({ waiting, pool }) => `${waiting} Aufrufe warten auf Verbindungen von „${pool}“`,
  'replica-silent': () => 'lässt sich nicht fragen: der Speicher selbst antwortet statt ihrer',
  'replica-behind': ({ ms }) => `ist ${ms} ms zurück`,
  'keys-lost': () => 'API-Schlüssel lassen sich nicht lesen, und keiner gilt mehr',
  'keys-unread': ({ seconds }) =>
    `API-Schlüssel lassen sich nicht lesen: die bekannten gelten noch ${seconds} s, von anderen kann es niemand sagen`,
  'endpoints-down': ({ down, all, said }) => `${down} von ${all} Endpunkten antworten nicht: ${said}`,
  'endpoints-unseen': (of) => `${of.late} von ${of.all} Endpunkten prüft niemand: ${list(of)}`,
  'no-finding': () => 'die Prüfung gab eine Antwort, die kein Befund ist',
  'unreadable-finding': () => 'die Prüfung gab eine Antwort, die sich nicht lesen lässt',
  silent: ({ ms }) => `seit ${ms} ms keine Antwort`,
  'too-slow': ({ ms }) => `keine Antwort innerhalb von ${ms} ms`,
}
