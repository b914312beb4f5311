const en = {
  title: 'Graph',
  surface: 'Graph of what the task asked for',
  keys: 'Drag to move, Ctrl and the wheel to zoom. By keyboard: arrows go along the lines, + and − zoom, 0 shows all of it, Enter opens. Dashed lines: it was over before, and nothing says that it was waited for. A line with its arrow to the left is undone.',
  larger: 'Larger',
  smaller: 'Smaller',
  all: 'Show all of it',
  count: (nodes: number, steps: number) => `${nodes} drawn, ${steps} steps`,
  openAll: 'Expand all',
  closeAll: 'Collapse all',
  open: 'Expand',
  groups: (count: number) => `${count} groups`,
  chosen: 'What is chosen',
  list: 'The same as a list',
  after: 'Comes after',
  andMore: (count: number) => `and ${count} more`,
  lost: 'The graph cannot be drawn: this browser lets no worker run.',
  kinds: { step: 'step', child: 'child', timer: 'timer', signal: 'signal', lock: 'lock', join: 'join' },
}

const de: typeof en = {
  title: 'Graph',
  surface: 'Graph dessen, was die Aufgabe verlangte',
  keys: 'Ziehen verschiebt, Strg und das Rad vergrößern. Mit der Tastatur: Pfeile gehen die Linien entlang, + und − vergrößern und verkleinern, 0 zeigt alles, die Eingabetaste öffnet. Gestrichelt: Es war vorher zu Ende, und nichts sagt, dass darauf gewartet wurde. Eine Linie mit dem Pfeil nach links wird rückgängig gemacht.',
  larger: 'Größer',
  smaller: 'Kleiner',
  all: 'Alles zeigen',
  count: (nodes: number, steps: number) => `${nodes} gezeichnet, ${steps} Schritte`,
  openAll: 'Alles aufklappen',
  closeAll: 'Alles zuklappen',
  open: 'Aufklappen',
  groups: (count: number) => `${count} Gruppen`,
  chosen: 'Was gewählt ist',
  list: 'Dasselbe als Liste',
  after: 'Kommt nach',
  andMore: (count: number) => `und ${count} weiteren`,
  lost: 'Der Graph lässt sich nicht zeichnen: Dieser Browser lässt keinen Worker laufen.',
  kinds: {
    step: 'Schritt',
    child: 'Untergeordnete',
    timer: 'Wartezeit',
    signal: 'Signal',
    lock: 'Sperre',
    join: 'Sammelpunkt',
  },
}

/** What a graph of steps says. */
export const graph = { en, de }
