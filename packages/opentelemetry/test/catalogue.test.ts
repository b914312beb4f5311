import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type MetricName, metrics, prometheusName } from '../src/metric/catalogue.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/metrics.md'), 'utf8')

it('the catalogue of metrics and its docs page hold the same', () => {
  const documented = [
    ...page.matchAll(/^\| `(triarch\.[^`]+)` \| `(\w+)` \| (\w+) \| `([^`]+)` \| (.+) \| (.*) \|$/gm),
  ].map(([, name, prometheus, kind, unit, description, attributes = '']) => ({
    ...{ name, prometheus, kind, unit, description },
    attributes: [...attributes.matchAll(/`([^`]+)`/g)].map(([, one]) => one),
  }))
  const known = (Object.keys(metrics) as MetricName[]).map((name) => {
    const { kind, unit, description, attributes } = metrics[name]
    return { name, prometheus: prometheusName(name), kind, unit, description, attributes: [...attributes] }
  })
  expect(documented).toEqual(known)
})
