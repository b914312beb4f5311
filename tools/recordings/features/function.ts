import { agent, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const shop = agent('shop')
const price = shop.action('price', { run: (item: string) => item.length * 10 })

const order = workflow('order', {
  async run(items: string[], task) {
    const at = task.now().toISOString()
    const prices = await Promise.all(items.map((item) => task.run(price, item)))
    const sum = await task.run('sum', () => prices.reduce((all, one) => all + one, 0))
    task.progress({ sum })
    await task.sleep('10m')
    return { sum, at, chance: task.random(), id: task.uuid() }
  },
})

/** Steps at an agent and in the process itself, progress, a long sleep, and time, chance and ids that stay the same. */
export const functions: Feature = {
  name: 'function',
  workflows: [order],
  agents: [shop],
  script: [{ at: 1, do: ({ triarch }) => triarch.submit(order, ['pen', 'paper'], { id: 'order-1' }) }],
}
