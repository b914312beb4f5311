import type { Argument, Command, Option } from 'commander'
import { programOf } from '../src/program.ts'
import { type Printed, type Shape, shapes } from '../src/shape.ts'
import { processTerminal } from '../src/terminal.ts'

const head = `# The command triarch

Every command with its arguments and options, made from the program itself (\`npm test -- packages/cli -u\` writes it anew). How they are meant to be used is
[a page of its own](../concepts/cli.md).
`

/** The page of reference: each command that does something, with the options that all have first. */
export function referencePage(): string {
  const program = programOf(processTerminal(), () => undefined)
  const shared = `## Every command\n\n${table('option', program.options.map(optionRow))}\n`
  return `${head}\n${shared}\n${leaves(program, []).join('\n')}`
}

function leaves(command: Command, path: readonly string[]): string[] {
  const here = [...path, command.name()]
  if (command.commands.length > 0) return command.commands.flatMap((one) => leaves(one, here))
  const given = command.registeredArguments.map(usageOf)
  const parts = [
    `## ${here.join(' ')}`,
    said(command.description()),
    `\`\`\`sh\n${[...here, ...given].join(' ')}\n\`\`\``,
  ]
  const rows = [...command.registeredArguments.map(argumentRow), ...command.options.map(optionRow)]
  if (rows.length > 0) parts.push(table('what', rows))
  return [`${parts.join('\n\n')}\n`]
}

function said(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function usageOf(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
}

function argumentRow(argument: Argument): [string, string] {
  return [usageOf(argument), argument.description]
}

function optionRow({ flags, description, defaultValue, mandatory }: Option): [string, string] {
  const standard = typeof defaultValue === 'number' || typeof defaultValue === 'string' ? `; ${defaultValue}` : ''
  return [flags, `${description}${standard}${mandatory ? '; must be given' : ''}`]
}

function table(first: string, rows: readonly [string, string][]): string {
  const lines = rows.map(([name, text]) => `| \`${name.replaceAll('|', '\\|')}\` | ${text.replaceAll('|', '\\|')} |`)
  return [`| ${first} | |`, '| --- | --- |', ...lines].join('\n')
}

const shapeHead = `# The JSON of the command

What each command prints with \`--json\`, made from the program itself (\`npm test -- packages/cli -u\` writes it anew); a test runs every one and compares. An array is printed line by line with
\`--jsonl\`. The names are schemas of [the server's document](../concepts/server.md), \`/api/v1/openapi.json\`, at \`components.schemas\`; \`TaskPage.tasks[]\` is each of the items of that member. A member with \`?\` may be
missing, and \`any\` is any JSON. New members may come with a new version: pass over those that you do not know. Instants are ISO 8601 in UTC. What goes wrong is no JSON: a line on the standard error with a
[code](errors.md), and an [exit code](../concepts/cli.md#for-scripts).

| command | prints |
| --- | --- |
`

/** The page of reference for programs: what each command prints as JSON. */
export function shapePage(): string {
  const rows = Object.entries(shapes).map(([command, printed]) => `| \`${command}\` | ${printedText(printed)} |`)
  return `${shapeHead}${rows.join('\n')}\n`
}

function printedText([how, ...of]: Printed): string {
  if (how === 'none') return `nothing as JSON: ${of[0]}`
  const text = of.map((shape) => `\`${shapeText(shape as Shape)}\``).join(', or ')
  return how === 'one' ? text : how === 'many' ? `an array of ${text}` : `a line for each change: ${text}`
}

function shapeText(shape: Shape): string {
  if (typeof shape === 'string') return shape
  if (Array.isArray(shape)) return `${shapeText(shape[0] as Shape)}[]`
  return `{ ${Object.entries(shape)
    .map(([name, type]) => `${name}: ${shapeText(type as Shape)}`)
    .join(', ')} }`
}
