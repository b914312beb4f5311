import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AgentExchange, ServerExchange } from '../src/wire/agent.ts'
import { components } from '../src/wire/schema.ts'

type Node = Record<string, unknown>

/** Every message of the protocol as JSON Schema. */
function protocol(): Node {
  const { schemas } = z.toJSONSchema(components, { uri: (id) => `#/$defs/${id}`, io: 'input' })
  const own = Object.entries(schemas).filter(([id]) => /^(?:Agent|Server)[A-Z]/.test(id))
  const bare = ({ $schema: _, $id: __, ...schema }: Node) => schema
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'The agent protocol of Triarch, version 1',
    $defs: Object.fromEntries(own.map(([id, schema]) => [id, bare(schema as Node)])),
  }
}

describe('the agent protocol', () => {
  it('has the schemas that are committed; `npx vitest run -u packages/server/test/protocol` writes them anew', async () => {
    await expect(`${JSON.stringify(protocol(), null, 2)}\n`).toMatchFileSnapshot('../protocol.json')
  })

  it('is told whole on its page: each message, and each of its members', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/protocol.md'), 'utf8')
    const { AgentMessage, ServerMessage, ...defs } = protocol().$defs as Record<string, Node>
    const messages = [AgentMessage, ServerMessage].flatMap((it) => (it?.anyOf ?? []) as { $ref: string }[])
    expect(messages.length).toBe(15)
    for (const { $ref } of messages) {
      const { properties } = defs[$ref.split('/').at(-1) ?? ''] as { properties: Record<string, { const?: string }> }
      expect(page).toContain(`| \`${properties.type?.const}\` |`)
      for (const member of Object.keys(properties)) expect(page, `${$ref} ${member}`).toContain(`\`${member}\``)
    }
    for (const exchange of [AgentExchange, ServerExchange])
      for (const member of Object.keys(exchange.shape)) expect(page).toMatch(new RegExp(`[\`"]${member}[\`"]`))
  })
})
