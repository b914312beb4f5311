import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { type TaskHandle, Triarch, type Workflow } from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import { BURST, breaker, LIMIT, PER, PROBES, pace, plain, poison, rate, SHARED, seats, workflows } from './process.ts'
import { type Manner, serving } from './service.ts'

export interface KillSubject {
  store: StoreFactory
  /** The same, for another process. */
  target: string
  dispose(): Promise<void>
}

/** However slow the machine is. */
const PATIENT = { timeout: 60_000 }
const held: Manner = () => null
const well: Manner = () => 200

/** What limits promise of processes that are killed. `module`: works in a process of its own. The service's own ledger judges. */
export function killSuite(name: string, module: string, make: () => Promise<KillSubject>): void {
  /** A node that decides and watches, and begins nothing; and processes that do. */
  async function scene(manner: Manner) {
    const subject = await make()
    const service = await serving(manner)
    const triarch = new Triarch({
      ...{ store: subject.store, ...pace, workflows, agents: [], roles: ['scheduler', 'supervisor'] },
      onError: () => undefined,
    })
    await triarch.start()
    const alive = new Set<ChildProcess>()
    return {
      ...{ triarch, service },
      async process(): Promise<ChildProcess> {
        const child = fork(module, [subject.target, service.url], { execArgv: [] })
        alive.add(child)
        child.once('exit', () => alive.delete(child))
        await once(child, 'message')
        return child
      },
      async kill(child: ChildProcess): Promise<void> {
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        await gone
      },
      submit: (of: Workflow<null, null>, count: number): Promise<TaskHandle<null>[]> =>
        Promise.all(Array.from({ length: count }, () => triarch.submit(of, null))),
      async [Symbol.asyncDispose]() {
        for (const child of alive) child.kill('SIGKILL')
        await triarch.stop({ grace: 0 })
        await service[Symbol.asyncDispose]()
        await subject.dispose()
      },
    }
  }

  const failures = async (tasks: readonly TaskHandle[]) =>
    (await Promise.all(tasks.map((task) => task.status()))).reduce((sum, { failures }) => sum + failures, 0)

  describe(name, { timeout: 160_000 }, () => {
    it('shares seats: never more are taken at a time, and those of a process that is killed come back', async () => {
      await using s = await scene(held)
      const [one, two] = await Promise.all([s.process(), s.process()])
      const tasks = await s.submit(seats.workflow, 3 * SHARED)
      await s.service.until(() => s.service.open().length === SHARED)
      // Neither can have all of them.
      expect(new Set(s.service.open().map(({ pid }) => pid))).toEqual(new Set([one.pid, two.pid]))
      await s.kill(one)
      await s.process()
      await s.service.until(
        () => s.service.open().length === SHARED && s.service.open().every((it) => it.pid !== one.pid),
      )
      s.service.becomes(well)
      await Promise.all(tasks.map((task) => task.result(PATIENT)))
      expect(s.service.most).toBe(SHARED)
      expect(await failures(tasks)).toBe(0)
    })

    it('keeps its rate over all processes, whatever one has reserved when it is killed', async () => {
      await using s = await scene(well)
      const [one] = await Promise.all([s.process(), s.process()])
      const tasks = await s.submit(rate.workflow, 2 * LIMIT)
      await s.service.until(() => s.service.calls.filter(({ pid }) => pid === one.pid).length >= BURST)
      await s.kill(one)
      await s.process()
      await Promise.all(tasks.map((task) => task.result(PATIENT)))
      const began = s.service.calls.map(({ at }) => at)
      expect(began.length).toBeGreaterThanOrEqual(tasks.length)
      const within = began.map((from) => began.filter((at) => at >= from && at < from + PER).length)
      expect(Math.max(...within)).toBeLessThanOrEqual(LIMIT + BURST)
      expect(await failures(tasks)).toBe(0)
    })

    it('probes a service again when the process that did is killed, and spends no attempt on that', async () => {
      await using s = await scene(() => 503)
      const children = await Promise.all([s.process(), s.process()])
      const tasks = await s.submit(breaker.workflow, 20)
      const handle = s.triarch.breakers.get('breaker')
      const info = () => handle.info().catch(() => null)
      await expect.poll(info, PATIENT).toMatchObject({ state: 'open', waiting: tasks.length })
      s.service.becomes(held)
      // One that was refused has it open again, whatever the others of its wave hear.
      await s.service.until(() => s.service.open().length >= PROBES)
      const probe = s.service.open().at(-1)
      await s.kill(children.find(({ pid }) => pid === probe?.pid) as ChildProcess)
      s.service.becomes(well)
      await Promise.all(tasks.map((task) => task.result(PATIENT)))
      await expect.poll(async () => (await info())?.state, PATIENT).toBe('closed')
      const refused = s.service.calls.filter(({ end }) => end === 'refused').length
      expect(await failures(tasks)).toBe(refused)
    })

    it('sets a step apart that kills each process it runs in, and costs those beside it no attempt', async () => {
      await using s = await scene((call) => (call.task === 'poison' ? 200 : null))
      const beside = await s.submit(plain.workflow, 6)
      const bad = await s.triarch.submit(poison, null, { id: 'poison' })
      let deaths = 0
      for (let over = false; !over; ) {
        const child = await s.process()
        const gone = once(child, 'exit').then(() => 'died')
        const apart = new AbortController()
        const paused = (async () => {
          for await (const { status } of bad.watch({ signal: apart.signal })) if (status === 'paused') return 'paused'
          return 'ended'
        })().catch(() => 'nobody waits')
        over = (await Promise.race([gone, paused])) === 'paused'
        apart.abort()
        if (!over) expect(++deaths).toBeLessThan(12)
      }
      expect((await bad.status()).pause?.error).toMatchObject({ code: 'STEP_KEEPS_DYING' })
      s.service.becomes(well)
      await Promise.all(beside.map((task) => task.result(PATIENT)))
      expect(await failures([bad, ...beside])).toBe(0)
    })
  })
}
