import { Argument, type Command, type Option } from 'commander'
import type { CommandDeps } from '../command.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/** What a shell asks for while somebody types: names of commands, options, and nothing that needs a store. */
export function addCompletion(program: Command, means: CommandDeps): void {
  program
    .command('completion')
    .description('a script for a shell, by which it completes commands and options')
    .addArgument(new Argument('<shell>', 'which one').choices(shells))
    .action((shell: Shell) => {
      const commands = commandsOf(program, [])
      means.terminal.out(scripts[shell](commands))
    })
}

interface Known {
  /** Such as `task list`; empty: the program. */
  path: string
  commands: { name: string; about: string }[]
  options: { name: string; about: string; takes: boolean }[]
}

const help = { name: '--help', about: 'show help', takes: false } as const

/** Each command, with what may follow it. */
function commandsOf(command: Command, path: readonly string[]): Known[] {
  const own = {
    path: path.join(' '),
    commands: command.commands.map((one) => ({ name: one.name(), about: one.description() })),
    // Those of the program are those of each of its commands.
    options: path.length === 0 ? [...optionsOf(command), help] : optionsOf(command),
  }
  return [own, ...command.commands.flatMap((one) => commandsOf(one, [...path, one.name()]))]
}

function optionsOf(command: Command): Known['options'] {
  return command.options.map((option: Option) => ({
    ...{ name: option.long ?? option.short ?? '', about: option.description },
    takes: option.required || option.optional,
  }))
}

const scripts: Record<Shell, (commands: readonly Known[]) => string> = { bash, zsh, fish }

/** Options that take a value, of any command: what comes behind them is no command. */
function taking(commands: readonly Known[]): string[] {
  return [...new Set(commands.flatMap(({ options }) => options.filter(({ takes }) => takes).map(({ name }) => name)))]
}

/** The words of the command so far, without options and their values, name a row of the table. */
function bash(commands: readonly Known[]): string {
  const rows = commands.map(({ path, commands: next, options }) => {
    const words = [...next, ...(path === '' ? [] : options)].map(({ name }) => name).join(' ')
    return `    '${path}') words='${words}' ;;`
  })
  return `# bash completion of triarch: source <(triarch completion bash)
_triarch() {
  local cur=\${COMP_WORDS[COMP_CWORD]} path='' words='' word skip=''
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      ${taking(commands).join('|')}) skip=1 ;;
      -*) ;;
      *) case "\${path:+$path }$word" in
        ${commands
          .filter(({ path }) => path !== '')
          .map(({ path }) => `'${path}'`)
          .join('|')}) path="\${path:+$path }$word" ;;
      esac ;;
    esac
  done
  if [[ -n $skip ]]; then COMPREPLY=($(compgen -f -- "$cur")); return; fi
  case $path in
${rows.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words ${commands[0]?.options.map(({ name }) => name).join(' ')}" -- "$cur"))
  if [[ \${#COMPREPLY[@]} -eq 0 && $cur != -* ]]; then COMPREPLY=($(compgen -f -- "$cur")); fi
}
complete -F _triarch triarch
`
}

/** zsh runs the functions of bash. */
function zsh(commands: readonly Known[]): string {
  return `#compdef triarch
# zsh completion of triarch: source <(triarch completion zsh)
autoload -U +X bashcompinit && bashcompinit
${bash(commands)}`
}

function fish(commands: readonly Known[]): string {
  const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`
  const lines = commands.flatMap(({ path, commands: next, options }) => {
    const at = `-n ${quoted(`__triarch_at ${quoted(path)}`)}`
    return [
      ...next.map(({ name, about }) => `complete -c triarch ${at} -f -a ${quoted(name)} -d ${quoted(about)}`),
      ...options.map(
        ({ name, about, takes }) =>
          `complete -c triarch ${path === '' ? '' : `${at} `}-l ${name.replace(/^--/, '')}${takes ? ' -r' : ''} -d ${quoted(about)}`,
      ),
    ]
  })
  const paths = commands.map(({ path }) => quoted(path)).join(' ')
  return `# fish completion of triarch: triarch completion fish | source
function __triarch_at
  set -l path ''
  set -l skip ''
  for word in (commandline -opc)[2..-1]
    if test -n "$skip"
      set skip ''
      continue
    end
    switch $word
      case ${taking(commands).join(' ')}
        set skip 1
      case '-*'
      case '*'
        set -l next (string trim "$path $word")
        contains -- $next ${paths}; and set path $next
    end
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}
`
}
