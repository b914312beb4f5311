// How long a dead node's work stands still: measured while nothing else goes wrong.
import { setTimeout as delay } from 'node:timers/promises'
import type { Fleet, Member } from './fleet.ts'
import type { Group } from './plan.ts'
import { settings, TAKEOVER_LIMIT } from './settings.ts'
import type { Eye } from './store.ts'

export interface Takeover {
  /** Tasks the dead scheduler owned. */
  tasks: number
  /** From its death until the last of them had another owner (ms); null: not all of them within `GIVE_UP`. */
  tasksAfter: number | null
  /** From the leader's death until another supervisor led (ms). */
  leaderAfter: number | null
  /**
   * How long the measuring itself was held up by a machine that is busy with other things (ms): what it waits for is held up
   * as much, so the bound is that much later.
   */
  lag: number
}

const GIVE_UP = 4 * TAKEOVER_LIMIT
/** The dead come back only when all is measured. */
const DOWNTIME = settings.lease + 2 * settings.sweep

interface Owned {
  key: number
  owner: string
}

/** Kills one scheduler and then the leading supervisor. */
export async function measureTakeover(fleet: Fleet, eye: Eye, round: number): Promise<Takeover> {
  const look = new Looks()
  const { tasks, tasksAfter } = await killOwner(of(fleet, 'scheduler'), eye, { look, round })
  const leaderAfter = await killLeader(of(fleet, 'supervisor'), eye, look)
  return { tasks, tasksAfter, leaderAfter, lag: Math.round(look.lag) }
}

function of({ members }: Fleet, group: Group): Member[] {
  return members.filter((member) => member.group === group)
}

function ownedIn(eye: Eye): Promise<Owned[]> {
  return eye.rows<Owned>('SELECT key, locked_by AS owner FROM triarch.tasks WHERE locked_by IS NOT NULL')
}

function ownersOf(tasks: readonly Owned[]): string[] {
  return [...new Set(tasks.map(({ owner }) => owner))]
}

/** One that owns nothing is not missed: best when each of them has something to do; where that never is, the next one is killed. */
async function killOwner(schedulers: Member[], eye: Eye, { look, round }: { look: Looks; round: number }) {
  let measured = { tasks: 0, tasksAfter: null as number | null }
  for (let turn = 0; turn < schedulers.length && measured.tasks === 0; turn++) {
    let owned: Owned[] = []
    await look.until(async () => {
      owned = await ownedIn(eye)
      return ownersOf(owned).length >= schedulers.length || undefined
    })
    look.lag = 0
    const victim = schedulers[(round + turn) % schedulers.length] as Member
    measured = await killScheduler(victim, eye, { look, owned })
  }
  return measured
}

async function killScheduler({ unit }: Member, eye: Eye, { look, owned }: { look: Looks; owned: Owned[] }) {
  const owners = ownersOf(owned)
  const began = performance.now()
  const back = unit.kill(DOWNTIME)
  const dead = await look.until(async () => {
    const alive = await eye.rows<{ id: string }>('SELECT id FROM triarch.nodes WHERE NOT dead AND id = ANY ($1)', [
      owners,
    ])
    return owners.find((owner) => !alive.some(({ id }) => id === owner))
  })
  const orphans = owned.filter(({ owner }) => owner === dead).map(({ key }) => key)
  // Claimed anew, or handed back before the death and asleep since.
  const taken = await look.until(async () => {
    const left = await eye.rows(
      'SELECT 1 FROM triarch.tasks WHERE key = ANY ($1) AND (locked_by = $2 OR orphaned) LIMIT 1',
      [orphans, dead],
    )
    return left.length === 0 || undefined
  })
  const after = Math.round(performance.now() - began)
  await back
  return { tasks: orphans.length, tasksAfter: taken ? after : null }
}

async function killLeader(supervisors: Member[], eye: Eye, look: Looks): Promise<number | null> {
  const held = "SELECT token FROM triarch.leases WHERE name = 'supervisor'"
  const leader = async () => (await eye.rows<{ token: number }>(held))[0]?.token
  const before = await leader()
  for (const { unit } of supervisors) {
    const began = performance.now()
    const back = unit.kill(DOWNTIME)
    // One that did not lead is not missed: then the other one does.
    const next = await look.until(async () => (await leader()) !== before || undefined, GIVE_UP / 2)
    const after = Math.round(performance.now() - began)
    await back
    if (next) return after
  }
  return null
}

/** Distance between two looks, and what one may take besides on a machine that has nothing else to do (ms). */
const PACE = 10
const USUAL = 15

/** Asks the same again and again, and notices when it does not get to it. */
class Looks {
  lag = 0

  /** What the question is answered with in the end; undefined: nothing in time, which is that much longer where it is held up. */
  async until<T>(ask: () => Promise<T | undefined>, within: number = GIVE_UP): Promise<T | undefined> {
    for (const end = performance.now() + within - this.lag; performance.now() < end + this.lag; ) {
      const began = performance.now()
      const answer = await ask()
      if (answer !== undefined) return answer
      await delay(PACE)
      this.lag += Math.max(0, performance.now() - began - PACE - USUAL)
    }
    return undefined
  }
}
