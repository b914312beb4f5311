import { PermanentError } from 'triarch'

/** A job of the cloud: asked how it is, it says so, and is a bit further. */
export interface Job {
  done: boolean
  share: number
  machine: string
}

/** What a provider of machines, disks and names would be: it answers at once, works slowly, and knows requests by their key. */
export class Cloud {
  readonly log: string[] = []
  readonly machines = new Map<string, { name: string; address: string; disks: string[] }>()
  readonly names = new Map<string, string>()
  readonly inventory = new Set<string>()
  /** What refuses to work now: `dns`, `monitoring`, `attach`. */
  readonly broken = new Set<string>()
  readonly #jobs = new Map<string, { machine: string; polls: number }>()

  /** Begins to create a machine; the same key is the same job. */
  create(key: string, name: string): { job: string } {
    if (!this.#jobs.has(key)) {
      const machine = `m${this.#jobs.size + 1}`
      this.#jobs.set(key, { machine, polls: 0 })
      this.log.push(`create ${name}`)
      this.machines.set(machine, { name, address: `10.0.0.${this.#jobs.size}`, disks: [] })
    }
    return { job: key }
  }

  job(key: string): Job {
    const job = this.#jobs.get(key)
    if (!job) throw new PermanentError(`there is no job ${key}`)
    job.polls++
    return { done: job.polls >= 3, share: job.polls / 3, machine: job.machine }
  }

  /** Ends a job, and takes back what it has made. */
  callOff(key: string): void {
    const job = this.#jobs.get(key)
    if (job) this.remove(job.machine)
  }

  remove(machine: string): void {
    const found = this.machines.get(machine)
    if (!found) return
    if (found.disks.length > 0) throw new Error(`${machine} has disks`)
    this.log.push(`remove ${found.name}`)
    this.machines.delete(machine)
  }

  attach(machine: string, disk: string): void {
    this.#check('attach')
    const { disks } = this.#machine(machine)
    if (!disks.includes(disk)) disks.push(disk)
  }

  detach(machine: string, disk: string): void {
    const found = this.#machine(machine)
    found.disks = found.disks.filter((other) => other !== disk)
  }

  /** Starts a machine with all its disks. */
  boot(machine: string): string {
    const { name, address, disks } = this.#machine(machine)
    this.log.push(`boot ${name} with ${disks.length} disks`)
    return address
  }

  register(name: string, address: string): void {
    this.#check('dns')
    this.log.push(`register ${name}`)
    this.names.set(name, address)
  }

  unregister(name: string): void {
    if (this.names.delete(name)) this.log.push(`unregister ${name}`)
  }

  watch(address: string): void {
    this.#check('monitoring')
    this.log.push(`watch ${address}`)
  }

  #machine(id: string): { name: string; address: string; disks: string[] } {
    const found = this.machines.get(id)
    if (!found) throw new PermanentError(`there is no machine ${id}`)
    return found
  }

  #check(part: string): void {
    if (this.broken.has(part)) throw new PermanentError(`${part} is out of order`)
  }
}
