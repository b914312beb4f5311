import { cacheName } from '../../packages/triarch/src/definition/cache.ts'
import {
  type Agent,
  isTriarchError,
  type KeyValueCache,
  PermanentError,
  type StepContext,
  TransientError,
  type Triarch,
  type TriarchOptions,
} from '../../packages/triarch/src/index.ts'
import type { TaskEvent } from '../../packages/triarch/src/kernel/event.ts'
import type { CacheMark } from '../../packages/triarch/src/kernel/step/step.ts'
import type { CacheFill, FillBegun } from '../../packages/triarch/src/store/port.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import { sabotagedAgent } from '../../packages/triarch/src/testing/sabotage.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import { type Evidence, rewound, type Story } from '../../packages/triarch/test/crash/evidence.ts'
import { type Answer, type Bank, bank, type Question, tagOf, WITHIN } from './bank.ts'
import type { Plan } from './plan.ts'
import type { Sight } from './sight.ts'
import type { Diary } from './yard.ts'

/** How long answers are kept (ms), where, and when the operator declares which of them wrong. */
export interface CachePlan {
  ttl: number
  stale: number
  negative: number
  scope: 'shared' | 'process'
  /** Another's cache holds what is shared: of its calls such shares throw, never answer, forget. */
  other?: { throws: number; hangs: number; forgets: number }
  /** How long the service takes (ms); each of so many questions it fails at, or refuses for good; 0: none. */
  slow: number
  ills: number
  refusals: number
  words: { at: number; by: 'key' | 'action' | 'tag'; key: number }[]
}

/** Until it is tried again what a fault kept from being said (ms). */
const AGAIN = 60
/** What a clock that follows the store's may be behind, and what whoever waits may be early (ms). */
const LAG = 600

interface Asking {
  machine: Machine
  node: string | undefined
  signal: AbortSignal
  since: number
  /** Its cache did not fail, and its time to wait was not over: nobody else asks meanwhile. */
  alone: boolean
}

/** Of what, from when to when the operator's word was on its way, and when the store last took it. */
interface Invalid {
  concerns(key: number): boolean
  taken: number
  told: number
}

/** Answers that are kept: who asks the service when, and what is given to whom. */
export class Kept {
  readonly faults: string[] = []
  readonly #world: World
  readonly #sight: Sight
  readonly #plan: CachePlan | null
  /** What the service says comes later than it says it. */
  readonly #late: boolean
  readonly #asking = new Map<number, Set<Asking>>()
  /** By the digest of what is asked: whoever the store says asks for it. */
  readonly #flights = new Map<string, { node: string; until: number }>()
  /** When each machine's cache failed last. */
  readonly #failed = new Map<Machine, number>()
  readonly #invalid: Invalid[] = []
  readonly #others = new Map<string, { value: string; until: number }>()
  #questions = 0
  /** The word that is on its way. */
  #word: Invalid | null = null
  #owed = 0

  constructor(world: World, sight: Sight, { cache, adaptive }: Plan) {
    this.#world = world
    this.#sight = sight
    this.#plan = cache ?? null
    this.#late = adaptive !== undefined
  }

  /** Words of the operator that were not taken yet. */
  get owed(): string[] {
    return this.#owed > 0 ? ['the operator'] : []
  }

  /** The service as a machine reaches it. Null: there is none in this world. */
  bank(machine: Machine | null, diary: Diary | null): Bank | null {
    const plan = this.#plan
    if (!plan) return null
    const { ttl, stale: staleWhileRevalidate, negative, scope } = plan
    return bank({ ttl, staleWhileRevalidate, negative, scope }, (question, step) => {
      if (!machine || !diary) throw new Error('it is asked by nobody')
      return this.#ask(question, step, machine, diary)
    })
  }

  /** The agent behind a service whose answers come late: they are kept from when they are there, and are as old as that. */
  agent(agent: Agent): Agent {
    if (!this.#plan || !this.#late || agent.name !== 'bank') return agent
    return sabotagedAgent(agent, async (_, work) => ({ ...((await work()) as Answer), answered: this.#world.now }))
  }

  /** What a node is given besides. */
  options(machine: Machine): Pick<TriarchOptions, 'cache'> {
    return this.#plan?.other ? { cache: { shared: this.#other(machine, this.#plan.other) } } : {}
  }

  telemetry(machine: Machine): NonNullable<TriarchOptions['telemetry']> {
    return this.#plan ? { 'cache:failed': () => void this.#failed.set(machine, this.#world.now) } : {}
  }

  async #ask({ key }: Question, step: StepContext, machine: Machine, diary: Diary): Promise<Answer> {
    const { slow, ills, refusals } = this.#plan as CachePlan
    const asked = this.#world.now
    const { taskId: task, stepId, attempt, idempotencyKey, signal } = step
    const place = { operation: 'run', key: idempotencyKey, action: 'quote', task, step: stepId, attempt } as const
    // A stale answer is replaced by a call of nobody's.
    const told = stepId > 0
    if (told) diary.write('call', place)
    const nth = ++this.#questions
    const one = machine.alive ? this.#begin(key, machine, step) : null
    try {
      await diary.pause(slow, signal)
      if (ills > 0 && nth % ills === 0) throw new TransientError('injected: the bank is ill', { retryAfter: 10 })
      const answered = this.#world.now
      if (refusals > 0 && nth % refusals === 0)
        throw new PermanentError(`injected: ${JSON.stringify({ key, asked, answered })}`)
      if (told) diary.write('effect', place)
      return { key, asked, answered }
    } finally {
      if (one) this.#asking.get(key)?.delete(one)
    }
  }

  /** Of those who ask for the same at once, one asks the service, unless a cache failed or the time to wait is over. */
  #begin(key: number, machine: Machine, { completeBy, signal }: StepContext): Asking {
    const node = this.#sight.nodeOf(machine)
    const all = this.#asking.get(key) ?? new Set()
    this.#asking.set(key, all)
    for (const it of all) if (!it.machine.alive || it.signal.aborted) all.delete(it)
    const now = this.#world.now
    const failed = now - (this.#failed.get(machine) ?? Number.NEGATIVE_INFINITY) <= WITHIN
    const waited = now >= completeBy.getTime() - WITHIN / 2 - LAG
    const alone = !failed && !waited
    if (alone) {
      const other = [...all].find((it) => this.#rivals(it, machine, node))
      if (other) this.faults.push(`${machine.name} asks for ${key} at ${now}, and ${other.machine.name} does already`)
      const flight = this.#flights.get(cacheName('bank.quote', { key }).digest)
      if (flight && flight.node !== node && flight.until > now && this.#sight.lives(flight.node))
        this.faults.push(`${machine.name} asks for ${key} at ${now}, while ${flight.node} is to`)
    }
    const one = { machine, node, signal, since: now, alone }
    all.add(one)
    return one
  }

  /** In the same process, or in another that goes on. */
  #rivals(it: Asking, machine: Machine, node: string | undefined): boolean {
    if (!it.alone) return false
    if (it.machine === machine) return it.node === node
    const goes = it.node !== undefined && it.machine.frozenUntil <= it.since && this.#sight.lives(it.node)
    return this.#plan?.scope === 'shared' && goes
  }

  readonly observe = ({ name, args }: LinkCall, answer: unknown): void => {
    if (!this.#plan || answer instanceof Error) return
    if (name === 'beginFill' && (answer as FillBegun).begun) this.#flies(args[0] as CacheFill)
    if (name === 'endFill' || name === 'writeCache') {
      const { key, node } = args[0] as Pick<CacheFill, 'key' | 'node'>
      if (this.#flights.get(key)?.node === node) this.#flights.delete(key)
    }
    if (name === 'invalidate' && this.#word) this.#word.taken = this.#world.now
  }

  #flies({ key, node, within }: CacheFill): void {
    const now = this.#world.now
    const other = this.#flights.get(key)
    if (other && other.node !== node && other.until > now && this.#sight.lives(other.node))
      this.faults.push(`${node} may ask for ${key} at ${now}, while ${other.node} does`)
    this.#flights.set(key, { node, until: now + within })
  }

  /** A cache of another maker, in which all may go wrong. */
  #other(machine: Machine, { throws, hangs, forgets }: NonNullable<CachePlan['other']>): KeyValueCache {
    const ill = (): Promise<never> | false => {
      if (this.#world.random() < throws) throw new Error('injected: the cache is down')
      return this.#world.random() < hangs && new Promise<never>(() => undefined)
    }
    return {
      get: (key) => {
        const found = this.#others.get(key)
        return ill() || (found && found.until > this.#world.now ? found.value : undefined)
      },
      set: (key, value, ttl) => {
        const failed = ill()
        if (machine.alive && this.#world.random() >= forgets)
          this.#others.set(key, { value, until: this.#world.now + ttl })
        return failed || true
      },
    }
  }

  /** The operator's words, each at its time. */
  plan(machine: Machine, triarch: Triarch): void {
    for (const { at, by, key } of this.#plan?.words ?? []) {
      const concerns = (other: number) =>
        by === 'action' || (by === 'key' ? other === key : tagOf(other) === tagOf(key))
      const say = () =>
        by === 'tag' ? triarch.caches.invalidate({ tag: tagOf(key) }) : this.#declare(triarch, by, key)
      this.#owed++
      machine.timer(at, () => this.#say(machine, say, { concerns, taken: 0, told: 0 }))
    }
  }

  #declare(triarch: Triarch, by: 'key' | 'action', key: number): Promise<void> {
    return by === 'key' ? triarch.caches.invalidate('bank.quote', { key }) : triarch.caches.invalidate('bank.quote')
  }

  /** One after the other, so that what the store takes is known to be this. */
  #say(machine: Machine, say: () => Promise<void>, word: Invalid): void {
    if (this.#word) return void machine.timer(AGAIN, () => this.#say(machine, say, word))
    this.#word = word
    say().then(
      () => {
        word.told = this.#world.now
        this.#word = null
        this.#owed--
        this.#invalid.push(word)
      },
      (error: unknown) => {
        this.#word = null
        if (!isTriarchError(error)) throw error
        machine.timer(AGAIN, () => this.#say(machine, say, word))
      },
    )
  }

  judge({ tasks, slack = 0 }: Evidence): string[] {
    if (!this.#plan) return []
    return [...this.faults, ...tasks.flatMap((story) => (rewound(story) ? [] : this.#given(story, slack)))]
  }

  /** What the task's steps were answered: for what they asked, kept no longer than it may be, and not declared wrong before. */
  #given(story: Story, slack: number): string[] {
    const { id } = story.row
    const durable = this.#sight.durable.get(id)
    const steps = new Map<number, { key: number; since: number }>()
    return story.records.flatMap(({ seq, events }) => {
      const at = durable?.get(seq) ?? 0
      return events.flatMap((event) => {
        if (event.type === 'stepRequested' && event.action === 'bank.quote')
          steps.set(event.id, { key: (event.input as unknown as Question).key, since: at })
        const step = 'id' in event ? steps.get(event.id) : undefined
        if (!step) return []
        const found = this.#answers(event, step, slack).map(
          (fault) => `${id}: step ${'id' in event && event.id} ${fault}`,
        )
        if (event.type === 'attemptFailed') step.since = at
        return found
      })
    })
  }

  #answers(event: TaskEvent, { key, since }: { key: number; since: number }, slack: number): string[] {
    if (event.type !== 'stepCompleted' && event.type !== 'attemptFailed') return []
    const answer = event.type === 'stepCompleted' ? (event.output as unknown as Answer) : answerIn(event.error.message)
    if (event.type === 'attemptFailed' && !event.lost && !ours.test(event.error.message) && !isLate(event.error))
      return [`failed of ${event.error.message}`]
    if (!answer || !('cached' in event) || !event.cached) return []
    const faults = answer.key === key ? [] : [`asked for ${key} and was given ${answer.key}`]
    return [...faults, ...this.#old(answer, event.cached, since - slack), ...this.#wrong(answer, since)]
  }

  #old({ answered }: Answer, { stale }: CacheMark, since: number): string[] {
    const { ttl, stale: more, negative } = this.#plan as CachePlan
    const most = Math.max(ttl, negative) + (stale ? more : 0)
    if (since - answered <= most) return []
    return [`asked after ${since}, and was given what is of ${answered}, and good for ${most} ms`]
  }

  #wrong({ key, asked }: Answer, since: number): string[] {
    return this.#invalid
      .filter(({ concerns, taken, told }) => concerns(key) && since > told && asked < taken)
      .map(
        ({ taken }) =>
          `asked at ${since}, and was given what was asked for at ${asked}, before it was wrong at ${taken}`,
      )
  }
}

/** What services throw, and what is around them; caches throw other things. */
const ours = /^injected: (the bank|the service|\{|an outage|too many|a middleware)/

/** What a refusal says. */
function answerIn(message: string): Answer | null {
  const [, text] = /^injected: (\{.*\})$/.exec(message) ?? []
  return text === undefined ? null : (JSON.parse(text) as Answer)
}

/** Whoever asked did not wait, or may not ask now. */
const ended: readonly string[] = ['STEP_TIMEOUT', 'STEP_CANCELLED', 'CIRCUIT_OPEN']

function isLate({ code }: { code?: string }): boolean {
  return code !== undefined && ended.includes(code)
}
