import type { Remotes } from '../agent/remote.ts'
import { suspensionReport } from '../agent/suspension.ts'
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

type AttemptHeartbeat = Extract<AgentMessage, { type: 'heartbeat' }>

export interface AdoptionsOptions {
  environment: Environment
  remotes: Pick<Remotes, 'occupy'>
  store: Pick<StateStore, 'post'>
  keys: SigningKeys
  /** The task's state from its history; null: the history cannot be read. */
  state: (task: string) => Promise<TaskState | null>
  /** Largest payload, in bytes of JSON. */
  payload: number
  /** How long the owner of a task awaits such an attempt without a heartbeat (ms). */
  lease: number
  /** Called when something was written for tasks that may be owned here. */
  posted: () => void
  failed: (error: unknown) => void
}

/** An attempt that runs in a process connected here although this server did not give it away. */
interface Adopted {
  session: Session
  ticket: Ticket
  /** The heartbeat interval that the step requires (ms); null: it is enough that the process is alive. */
  heartbeatWithin: number | null
  beatAt: number
  beat: number
  /** The agent was told that the task stops. */
  told: boolean
  /** The last progress and checkpoint of the code, and the function that posts them to the task. */
  said: { startedAt: number; progress?: Json; checkpoint: Json | undefined }
  say?: () => void
  freed: () => void
}

/** Most adopted attempts; the owner of each one's task is notified every third of a lease. */
const MOST_ADOPTED = 10_000

/**
 * Attempts without a row in a work queue whose server died or is no longer involved. The owner of the task awaits their answers through
 * its inbox, for one lease after each heartbeat.
 */
export class Adoptions implements Adopts {
  readonly #options: AdoptionsOptions
  readonly #adopted = new Map<string, Adopted>()
  #round: Timer | null = null

  constructor(options: AdoptionsOptions) {
    this.#options = options
  }

  /** Adopts an attempt that the session runs. `freed` frees its slot, if it has one already. */
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

  /** Posts progress and checkpoints of the code to the task. */
  heartbeat(session: Session, { attempt: name, beat, progress, checkpoint }: AttemptHeartbeat): void {
    const adopted = this.#adopted.get(name)
    if (adopted?.session !== session || beat <= adopted.beat) return
    const { environment, failed } = this.#options
    adopted.beat = beat
    adopted.beatAt = environment.monotonic()
    const { operation, step, attempt } = adopted.ticket
    if (operation !== 'run' || (progress === undefined && checkpoint === undefined)) return
    const { payload } = this.#options
    try {
      Object.assign(adopted.said, suspensionReport({ progress, checkpoint }, payload, []))
    } catch {
      return // contents that cannot be recorded are dropped; it still counts as a heartbeat
    }
    const { said, ticket } = adopted
    // Posted no more often than its own node would write it.
    adopted.say ??= throttle(environment, pacing(environment, said, payload), () => {
      if (this.#adopted.get(name) !== adopted) return
      const { progress, checkpoint } = said
      const told = { ...(progress !== undefined && { progress }), ...(checkpoint !== undefined && { checkpoint }) }
      this.#post(ticket.task, { type: 'heartbeat', step, attempt, ...told }).catch(failed)
    })
    adopted.say()
  }

  /** The attempt was answered. */
  over(name: string): void {
    this.#drop(name)
  }

  /** The process is gone. The owners of the tasks notice that heartbeats stop. */
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

  /**
   * Notifies the task's owner that the attempt runs. Returns the step if the task still waits for exactly this attempt; otherwise tells
   * the agent to stop.
   */
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
      this.#options.failed(error) // the next round tries again; a lease is longer than that
      return null
    }
  }

  async #post(task: string, message: Message): Promise<void> {
    const [posting] = await this.#options.store.post([{ task, message, control: true }])
    if (posting === 'posted') this.#options.posted()
  }
}

/** The step of the ticket, if its task still waits for exactly this attempt. `stops`: the task wants it to end. */
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
