import type { Remotes } from '../agent/remote.ts'
import { toldOf } from '../agent/suspension.ts'
import { pacing, throttle } from '../agent/throttle.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import type { Message } from '../kernel/message.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Step } from '../kernel/step/step.ts'
import { isOutstanding } from '../kernel/turn.ts'
import type { StateStore } from '../store/port.ts'
import type { SigningKeys } from '../store/signing-keys.ts'
import type { AgentMessage } from './message.ts'
import type { Adopts, Session } from './session.ts'
import { readTicket, type Ticket } from './ticket.ts'

type Heartbeat = Extract<AgentMessage, { type: 'heartbeat' }>

export interface AdoptionsOptions {
  environment: Environment
  remotes: Pick<Remotes, 'occupy'>
  store: Pick<StateStore, 'post'>
  keys: SigningKeys
  /** Of a task, as its history has it; null: that cannot be read. */
  state: (task: string) => Promise<TaskState | null>
  /** Largest payload, in bytes of JSON. */
  payload: number
  /** For how long the owner of a task awaits the answer to such an attempt without a word (ms). */
  lease: number
  /** Something was written for tasks that may be owned here. */
  posted: () => void
  failed: (error: unknown) => void
}

/** An attempt that goes on in a process which is connected here, though this server did not give it away. */
interface Adopted {
  session: Session
  ticket: Ticket
  /** What its step asks for (ms); null: that its process lives is enough. */
  heartbeatWithin: number | null
  beatAt: number
  beat: number
  /** Its agent was told that its task stops. */
  told: boolean
  /** What its code said last, and how it is told to the task. */
  said: { startedAt: number; progress?: Json; checkpoint: Json | undefined }
  say?: () => void
  freed: () => void
}

/** Attempts of one process that go on so: the owner of the task is told of each in each third of a lease. */
const MOST_ADOPTED = 10_000

/**
 * Attempts without a row in a queue, whose server died or has no part in them any more. The owner of the task awaits their answers by its
 * inbox, for a lease each time that it hears of them.
 */
export class Adoptions implements Adopts {
  readonly #options: AdoptionsOptions
  readonly #adopted = new Map<string, Adopted>()
  #round: Timer | null = null

  constructor(options: AdoptionsOptions) {
    this.#options = options
  }

  /** The session runs it, as it says. `freed`: its place there, if it has one already. */
  adopt(session: Session, name: string, freed?: () => void): void {
    void this.#adopt(session, name, freed)
  }

  async #adopt(session: Session, name: string, freed?: () => void): Promise<void> {
    const ticket = readTicket(this.#options.keys, name)
    if (!ticket || !session.offers(ticket.agent) || this.#adopted.size >= MOST_ADOPTED) return freed?.()
    const { environment, remotes } = this.#options
    const beatAt = environment.monotonic()
    const adopted: Adopted = {
      ...{
        session,
        ticket,
        heartbeatWithin: null,
        beatAt,
        beat: 0,
        told: false,
        said: { startedAt: ticket.at, checkpoint: undefined },
      },
      freed: freed ?? (() => undefined),
    }
    this.#drop(name)
    this.#adopted.set(name, adopted)
    this.#round ??= this.#next()
    const step = await this.#tell(name, adopted)
    if (!step || this.#adopted.get(name) !== adopted) return
    adopted.heartbeatWithin = step.operation === 'run' ? step.policy.heartbeatWithin : null
    if (!freed && step.action !== null) adopted.freed = remotes.occupy(session, step.action)
  }

  /** What its code says goes to the task. */
  heartbeat(session: Session, { attempt: name, beat, progress, checkpoint }: Heartbeat): void {
    const adopted = this.#adopted.get(name)
    if (adopted?.session !== session || beat <= adopted.beat) return
    const { environment, failed } = this.#options
    adopted.beat = beat
    adopted.beatAt = environment.monotonic()
    const { operation, step, attempt } = adopted.ticket
    if (operation !== 'run' || (progress === undefined && checkpoint === undefined)) return
    const { payload } = this.#options
    try {
      Object.assign(adopted.said, toldOf({ progress, checkpoint }, payload, []))
    } catch {
      return // what cannot be recorded is not; it lives all the same
    }
    const { said, ticket } = adopted
    // As its own node would write it: no more often.
    adopted.say ??= throttle(environment, pacing(environment, said, payload), () => {
      if (this.#adopted.get(name) !== adopted) return
      const { progress, checkpoint } = said
      const told = { ...(progress !== undefined && { progress }), ...(checkpoint !== undefined && { checkpoint }) }
      this.#post(ticket.task, { type: 'heartbeat', step, attempt, ...told }).catch(failed)
    })
    adopted.say()
  }

  /** It was answered. */
  over(name: string): void {
    this.#drop(name)
  }

  /** Its process is not heard of any more: who owns the tasks learns that by hearing nothing. */
  leave(session: Session): void {
    for (const [name, adopted] of this.#adopted) if (adopted.session === session) this.#drop(name)
  }

  #drop(name: string): void {
    const adopted = this.#adopted.get(name)
    this.#adopted.delete(name)
    adopted?.freed()
    if (this.#adopted.size > 0) return
    this.#round?.cancel()
    this.#round = null
  }

  #next(): Timer {
    const { environment, lease } = this.#options
    return environment.timer(lease / 3, () => void this.#tellAll())
  }

  async #tellAll(): Promise<void> {
    for (const [name, adopted] of [...this.#adopted]) if (this.#isAlive(adopted)) await this.#tell(name, adopted)
    this.#round = this.#adopted.size > 0 ? this.#next() : null
  }

  #isAlive({ heartbeatWithin, beatAt }: Adopted): boolean {
    return heartbeatWithin === null || this.#options.environment.monotonic() - beatAt <= heartbeatWithin
  }

  /** The step, if its task still waits for this very attempt; where it does not, the agent is told. */
  async #tell(name: string, adopted: Adopted): Promise<Step | null> {
    const { session, ticket } = adopted
    const { step: id, operation, attempt, task } = ticket
    try {
      const wanted = await wantedStep(this.#options.state, ticket)
      if (this.#adopted.get(name) !== adopted) return null
      if (!wanted) {
        this.#drop(name)
        session.callOff(name)
        return null
      }
      if (wanted.stops && !adopted.told) {
        adopted.told = true
        session.callOff(name, new TriarchError('STEP_CANCELLED', 'the task stops'))
      }
      await this.#post(task, { type: 'heartbeat', step: id, attempt, elsewhere: operation })
      return wanted.step
    } catch (error) {
      this.#options.failed(error) // it is told again: a lease is longer than that
      return null
    }
  }

  async #post(task: string, message: Message): Promise<void> {
    const [posting] = await this.#options.store.post([{ task, message, control: true }])
    if (posting === 'posted') this.#options.posted()
  }
}

/** The step of the ticket, if its task still waits for this very attempt. `stops`: it would rather that it ended. */
export async function wantedStep(
  stateOf: AdoptionsOptions['state'],
  { task, step: id, operation, attempt }: Ticket,
): Promise<{ step: Step; stops: boolean } | null> {
  const state = await stateOf(task).catch((error: unknown) => {
    if (error instanceof TriarchError && error.code === 'UNKNOWN_TASK') return null
    throw error
  })
  const step = state?.steps.get(id)
  if (!state || !step || step.operation !== operation || step.attempt !== attempt || !isOutstanding(step)) return null
  return { step, stops: operation === 'run' && state.closing !== null && step.received?.name !== 'cancel' }
}
