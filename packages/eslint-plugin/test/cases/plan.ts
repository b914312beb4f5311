import { type Cases, planned } from './case.ts'

export const plans: readonly Cases[] = [
  {
    rule: 'no-async-blocks',
    valid: [
      {
        name: 'the plan of a workflow may take its time',
        code: "import { workflow } from 'triarch'\nworkflow('sample', { async plan(input, plan) { plan.step(a, await load(input)) } })",
      },
      { name: 'blocks that answer at once', code: planned('plan.sequence(() => { plan.step(a, 1) })') },
      {
        name: 'the run of an action',
        code: "hosts.action('host', { plan(input, plan) { plan.self(input) }, async run() {} })",
      },
      { name: 'functions that are no blocks', code: planned('plan.step(a, 1)\ninput.map(async () => 1)') },
    ],
    invalid: [
      {
        name: 'a block',
        code: planned('plan.sequence(async () => { plan.step(a, await load(input)) })'),
        says: ['`plan.sequence` must answer at once'],
      },
      {
        name: 'a block by its name',
        code: planned("const block = async () => {}\nplan.lock('host', block)"),
        says: ['`plan.lock`'],
      },
      {
        name: 'a block in a block',
        code: planned('plan.sequence(() => { plan.concurrence(async () => {}) })'),
        says: ['`plan.concurrence`'],
      },
      {
        name: 'the plan of an action',
        code: "hosts.action('host', { async plan(input, plan) { plan.self(await load(input)) } })",
        says: ['`plan` of an action'],
      },
      {
        name: 'a block in a function with a plan among its parameters',
        code: "import type { PlanContext } from 'triarch'\nexport const both = (p: PlanContext) => p.concurrence(async () => {})",
        says: ['`p.concurrence`'],
      },
    ],
  },
  {
    rule: 'no-reference-values',
    valid: [
      {
        name: 'what is handed on',
        code: planned('const web = plan.step(host, { name: input.name })\nreturn { address: web.output.address }'),
      },
      {
        name: 'what is computed later',
        code: planned(
          'const web = plan.step(host, input)\nplan.step(announce, { text: ref.text`https://${web.output.name}` })',
        ),
      },
      {
        name: 'the input has values',
        code: planned('if (input.loud) plan.step(announce, { text: `hello ${input.name}` })'),
      },
      {
        name: 'whether a step was planned',
        code: planned(
          'const web = input.web ? plan.step(host, input) : null\nif (web) plan.step(announce, web.output)',
        ),
      },
      { name: 'output of anything else', code: planned('if (input.output.ready) plan.step(announce, input)') },
    ],
    invalid: [
      {
        name: 'a condition',
        code: planned('const web = plan.step(host, input)\nif (web.output.ready) plan.step(announce, {})'),
        says: ['is always true'],
      },
      {
        name: 'a text',
        code: planned(
          'const web = plan.step(host, input)\nplan.step(announce, { text: `https://${web.output.name}` })',
        ),
        says: ['ref.text'],
      },
      {
        name: 'a default',
        code: planned('const { address } = plan.step(host, input).output\nreturn address ?? input.address'),
        says: ['`address` has no value while planning'],
      },
      {
        name: 'a comparison',
        code: planned('const { output } = plan.step(host, input)\nreturn output.size === 1 ? 1 : !output.size'),
        says: ['ref.equals', 'ref.when'],
      },
      {
        name: 'a sum',
        code: planned('const size = plan.step(host, input).output.size\nreturn size + 1'),
        says: ['compute with it in a step'],
      },
      {
        name: 'a choice',
        code: planned('const web = plan.step(host, input)\nswitch (web.output.kind) { default: }'),
        says: ['ref.equals'],
      },
    ],
  },
]
