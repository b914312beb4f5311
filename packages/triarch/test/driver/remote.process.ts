// The code of a workflow in another process: told its input and all that came of its decisions so far, it says what it decides.

interface Question {
  id: number
  first: number
  input: { orders: number[] }
  /** Outcomes by the numbers of the decisions they are of, in the order in which they came. */
  told: [of: number, value: number][]
}

/** Prices every order, then the sum of all prices. */
function decisions({ first, input, told }: Question): object[] {
  const all: object[] = input.orders.map((order, at) => ({
    type: 'step',
    id: first + at,
    action: 'desk.price',
    input: order,
  }))
  if (told.length < input.orders.length) return all
  const prices = told.slice(0, input.orders.length).map(([, value]) => value)
  const sum = first + input.orders.length
  all.push({ type: 'step', id: sum, action: 'desk.price', input: prices.reduce((a, b) => a + b, 0) })
  const [, last] = told.find(([of]) => of === sum) ?? []
  if (last !== undefined) all.push({ type: 'returned', output: last })
  return all
}

process.on('message', (question: Question) => {
  process.send?.({ id: question.id, decisions: decisions(question), by: process.pid })
})
