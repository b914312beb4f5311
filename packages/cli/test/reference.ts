import type { Argument, Command, Option } from 'commander'
import { programOf } from '../src/program.ts'
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
