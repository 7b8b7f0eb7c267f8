import { Argument, type Command } from 'commander';

/** The shells that a script is written for. */
const shells = ['bash', 'zsh'] as const;

/** A command and what may follow it on the line. */
interface CompletedCommand {
  /** The words that lead to it, such as `keys list`; empty for the program itself. */
  path: string;
  words: string[];
}

/** All commands of a program, from its own down. */
function commandsOf(command: Command, path: string[] = []): CompletedCommand[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const options = help.visibleOptions(command).flatMap(({ long }) => long ?? []);
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const names = subcommands.map((subcommand) => subcommand.name());
  return [
    { path: path.join(' '), words: [...names, ...choices, ...options] },
    ...command.commands.flatMap((subcommand) => commandsOf(subcommand, [...path, subcommand.name()])),
  ];
}

/** The values that options take, of all commands: an option has the same meaning everywhere. */
function choicesOf(command: Command): Map<string, readonly string[]> {
  const own = command.options.flatMap(({ long, argChoices }): [string, readonly string[]][] =>
    long && argChoices ? [[long, argChoices]] : [],
  );
  return new Map([...own, ...command.commands.flatMap((subcommand) => [...choicesOf(subcommand)])]);
}

/** The lines that both shells have: from `typed`, the words before the cursor, to `candidates` for the next one. */
function candidateLines(program: Command): string {
  const commands = commandsOf(program);
  const paths = commands.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`]));
  const values = [...choicesOf(program)].map(
    ([option, words]) => `${option}) candidates='${words.join(' ')}' ;;`,
  );
  const followers = commands.map(({ path, words }) => `'${path}') candidates='${words.join(' ')}' ;;`);
  return `  local so_far='' previous='' candidates='' word
  for word in "\${typed[@]}"; do
    previous="$word"
    case "\${so_far:+$so_far }$word" in
      ${paths.join('|')}) so_far="\${so_far:+$so_far }$word" ;;
    esac
  done
  case "$previous" in
    ${values.join('\n    ')}
    *) case "$so_far" in
      ${followers.join('\n      ')}
    esac ;;
  esac`;
}

const scripts: Record<(typeof shells)[number], (program: Command) => string> = {
  bash: (program) => `_pms() {
  local typed=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
${candidateLines(program)}
  COMPREPLY=($(compgen -W "$candidates" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _pms pms
`,
  zsh: (program) => `#compdef pms
_pms() {
  local -a typed
  typed=("\${(@)words[2,CURRENT-1]}")
${candidateLines(program)}
  if [[ -n "$candidates" ]]; then compadd -- \${=candidates}; else _files; fi
}
compdef _pms pms
`,
};

/** Adds `completion`. */
export function addCompletionCommand(program: Command, write: (text: string) => void): void {
  program
    .command('completion')
    .description('print a script that completes commands and options: source <(pms completion bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: (typeof shells)[number]) => write(scripts[shell](program)));
}
