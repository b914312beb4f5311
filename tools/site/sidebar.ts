import { titleOf } from './heading.ts'
import type { Page } from './page.ts'

export interface Group {
  text: string
  items: { text: string; link: string }[]
}

/** Groups of pages, by what their paths begin with. A group lists the pages it names first, in this order, and then all others. */
const groups: { text: string; of: RegExp; first?: string[] }[] = [
  { text: 'Start', of: /^index|^tutorial\// },
  {
    text: 'Concepts',
    of: /^concepts\/|^guide/,
    first: [
      ...['index', 'workflows', 'submitting', 'steps', 'undo', 'signals', 'suspension', 'children', 'cancelling'],
      ...['watching', 'listing', 'schedules', 'plans', 'batches', 'locks', 'transactions', 'payloads', 'middleware'],
      ...[
        'circuit-breaker',
        'rate-limits',
        'shared-concurrency',
        'adaptive-concurrency',
        'queues',
        'threads',
        'versions',
        'testing',
        'processes',
        'server',
        'client',
        'console',
        'health',
      ],
      ...['direct', 'remote-agents', 'push-agents', 'cli'],
      ...['opentelemetry'],
      ...['deployment', 'limits', 'bundlers'],
    ],
  },
  { text: 'Running it', of: /^(?:postgres|runtimes|deployment|performance|reliability|eslint)/ },
  { text: 'Coming from', of: /^coming-from/ },
  { text: 'API', of: /^reference\/api\// },
  { text: 'Reference', of: /^reference\/|^patterns/ },
  {
    text: 'Internals',
    of: /^internals\//,
    first: [
      ...['index', 'tasks', 'turns', 'recovery', 'commit', 'stores', 'queues', 'flow-control', 'notifications'],
      ...['remote-agents', 'plans-and-batches', 'testing', 'performance'],
    ],
  },
  { text: 'The project', of: /./ },
]

/** Every page of the site is in it, in one place. */
export function sidebar(pages: Page[]): Group[] {
  const names = pages.map((page) => ({ page, name: page.path.replace(/^docs\/|\.md$/g, '') }))
  const rank = (first: string[], name: string): number => {
    const at = first.findIndex((word) => name.endsWith(`/${word}`))
    return name === 'index' ? -1 : at < 0 ? first.length : at
  }
  return groups
    .map(({ text, of, first = [] }) => ({
      text,
      items: names
        .filter(({ name }) => groups.find((group) => group.of.test(name))?.of === of)
        .sort((a, b) => rank(first, a.name) - rank(first, b.name) || (a.name < b.name ? -1 : 1))
        .map(({ page, name }) => ({
          text: name.endsWith('/index') ? 'Overview' : titleOf(page.markdown),
          link: `/${name.replace(/(^|\/)index$/, '$1')}`,
        })),
    }))
    .filter(({ items }) => items.length > 0)
}
