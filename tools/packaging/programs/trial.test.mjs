import { agent, workflow } from 'triarch'
import { testEngine } from 'triarch/testing'

const mail = agent('mail')
const sent = []
const send = mail.action('send', { run: async (text) => void sent.push(text) })
const trial = workflow('trial', {
  async run(customer, task) {
    await task.sleep('30d')
    await task.run(send, `goodbye, ${customer}`)
  },
})

test('a trial ends after thirty days', async () => {
  await using engine = await testEngine({ workflows: [trial], agents: [mail] })
  const task = await engine.submit(trial, 'Ada')
  await engine.advance('29d')
  expect(sent).toEqual([])
  await task.result()
  expect(sent).toEqual(['goodbye, Ada'])
})
