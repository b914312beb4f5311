// Whether an agent keeps to docs/protocol.md: node packages/server/conformance/main.ts <command> [args]
import { examine } from './examination.ts'

const command = process.argv.slice(2)
if (command.length === 0) {
  console.error('usage: node packages/server/conformance/main.ts <command that starts an agent> [args]')
  process.exit(2)
}
const { failures, sockets } = await examine(command, (line) => console.log(line))
console.log(
  failures === 0
    ? `it keeps to the protocol, ${sockets > 0 ? 'by WebSocket' : 'by plain requests'}`
    : `${failures} failed`,
)
process.exit(failures === 0 ? 0 : 1)
