/** How files of tests run, in every configuration: each in a process of its own, for tests kill, fork and open databases. */
export const processes: {
  pool: 'forks'
  execArgv: string[]
  expect: { poll: { timeout: number } }
} = {
  pool: 'forks',
  // V8 loses track of its code pages when many threads come and go where memory has protection keys, and ends the process
  // (nodejs/node#64500). Tests start a thread for each node they start; a process of a user's starts one.
  execArgv: ['--no-memory-protection-keys'],
  // For what hangs only: nothing that is slow on a busy machine fails by this.
  expect: { poll: { timeout: 120_000 } },
}
