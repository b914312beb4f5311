import {
  type Agent,
  agent,
  type Duration,
  PermanentError,
  polling,
  ref,
  type Templated,
  type Triarch,
  type Workflow,
  workflow,
} from 'triarch'
import type { Cloud, Job } from './cloud.ts'

export interface Order {
  domain: string
  hosts: { name: string; disks: number[] }[]
}

export interface Infrastructure {
  agents: Agent[]
  workflows: Workflow[]
  createInfrastructure: Workflow<Order, { hosts: string[]; url: string }>
}

/** Hosts with their disks and names, on a cloud; `triarch()` is who runs the sub-task. */
export function infrastructure(cloud: Cloud, triarch: () => Triarch, pace: Duration = '1s'): Infrastructure {
  const machines = agent('machines', { concurrency: 10 })
  const dns = agent('dns')

  // Work done elsewhere: begun once, asked for at growing distances, called off with the task. It holds nothing meanwhile.
  const creation = polling({
    invoke: ({ name }: { name: string }, step) => cloud.create(step.idempotencyKey, name),
    poll: ({ job }): Job => cloud.job(job),
    done: (job) => job.done,
    progress: (job) => job.share,
    result: ({ machine }) => ({ machine }),
    cancel: ({ job }) => cloud.callOff(job),
    intervals: [pace],
    timeout: '1h',
  })
  const createMachine = machines.action('create', { run: creation, undo: ({ output }) => cloud.remove(output.machine) })

  const attachDisk = machines.action('attach', {
    run({ machine, size }: { machine: string; size: number }, step) {
      const disk = `${size}GB-${step.stepId}`
      cloud.attach(machine, disk)
      return { disk, size }
    },
    undo: ({ input, output }) => cloud.detach(input.machine, output.disk),
  })

  // An action that plans others, and then itself: its disks are attached side by side, before it boots.
  const host = machines.action('host', {
    plan({ name, disks }: { name: string; disks: readonly number[] }, plan) {
      const { machine } = plan.step(createMachine, { name }).output
      const attached = disks.map((size) => plan.step(attachDisk, { machine, size }).output)
      plan.self({ name, machine, disks: attached })
    },
    run: ({ machine }: { name: string; machine: string; disks: { disk: string }[] }) => ({
      address: cloud.boot(machine),
    }),
    // Once everything else has succeeded, and so that doing it twice does no harm.
    finalize: ({ input }) => void cloud.inventory.add(input.name),
  })

  const register = dns.action('register', {
    rescue: 'pause',
    run({ name, address }: { name: string; address: string }) {
      cloud.register(name, address)
      return { name }
    },
    undo: ({ output }) => cloud.unregister(output.name),
  })

  const watch = machines.action('watch', { run: ({ address }: { address: string }) => cloud.watch(address) })

  const smokeTest = workflow('smoke-test', {
    async run(addresses: string[], task) {
      await Promise.all(addresses.map((address) => task.run('ping', () => cloud.log.push(`ping ${address}`))))
      return addresses.length
    },
  })

  // A task of its own, with a history of its own; the step only waits for its end.
  const subTask = machines.action('smoke-test', {
    run: polling({
      async invoke(addresses: string[], step) {
        // An id has no "~", which a key has.
        const id = `smoke-test:${step.idempotencyKey.replaceAll('~', ':')}`
        await triarch().submit(smokeTest, addresses, { id })
        return { id }
      },
      poll: ({ id }) => triarch().tasks.get(id).status(),
      done: ({ status }) => status === 'stopped',
      result({ id, outcome }) {
        if (outcome !== 'success') throw new PermanentError(`task ${id} ended with ${outcome}`)
        return { tested: id }
      },
      intervals: [pace],
    }),
  })

  const createInfrastructure = workflow('create-infrastructure', {
    plan({ domain, hosts }: Order, plan) {
      const planned = hosts.map(({ name, disks }) => ({ name, host: plan.step(host, { name, disks }).output }))
      const addresses: Templated<string>[] = planned.map(({ host: { address } }) => address)
      const names = planned.map(({ name, host: { address } }) =>
        plan.step(register, { name: `${name}.${domain}`, address }),
      )
      // Nice to have: whatever watching says about its own rescue, here it may fail.
      for (const { address } of planned.map((one) => one.host)) plan.step(watch, { address }, { rescue: 'skip' })
      plan.step(subTask, addresses, { after: names })
      return {
        hosts: addresses as string[],
        url: ref.text`https://${names[0]?.output.name ?? domain}/`,
      }
    },
  })

  return {
    agents: [machines, dns],
    workflows: [createInfrastructure, smokeTest] as Workflow[],
    createInfrastructure: createInfrastructure as Infrastructure['createInfrastructure'],
  }
}
