import { Argument, type Command } from 'commander';
import { examples, withoutJson } from './arguments.ts';

/** The shells for which `pms` can print a completion script. */
const shells = ['bash', 'zsh', 'fish'] as const;

/** A command of `pms`, with the words that can follow the command on the command line. */
interface CompletedCommand {
  /**
   * The words after `pms` that select the command, such as `keys list`. `path` is empty for the program `pms` itself.
   */
  path: string;
  words: Word[];
  takesFile: boolean;
}

/** A word that can come next on the command line, with its description. */
interface Word {
  text: string;
  explanation: string;
}

/** The placeholder for a file name in the help texts of commands. */
const fileName = '<file>';

/** Returns a command and all its subcommands. */
function commandsOf(command: Command, path: string[] = []): CompletedCommand[] {
  const help = command.createHelp();
  const subcommands = help
    .visibleCommands(command)
    .map((subcommand) => ({ text: subcommand.name(), explanation: subcommand.description() }));
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) =>
    argChoices.map((text) => ({ text, explanation: '' })),
  );
  const options = help
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long ? [{ text: long, explanation: description }] : []));
  const takesFile = command.registeredArguments.some(
    (argument) => `<${help.argumentTerm(argument)}>` === fileName,
  );
  return [
    { path: path.join(' '), words: [...subcommands, ...choices, ...options], takesFile },
    ...command.commands.flatMap((subcommand) => commandsOf(subcommand, [...path, subcommand.name()])),
  ];
}

/**
 * Returns a map from the name of each command-line option to the list of its allowed values. Options without such a
 * list are not in the map. The map contains the options of all `pms` commands. Options with the same name have the same
 * allowed values in all commands.
 */
function choicesOf(command: Command): Map<string, readonly string[]> {
  const own = command.options.flatMap(({ long, argChoices }): [string, readonly string[]][] =>
    long && argChoices ? [[long, argChoices]] : [],
  );
  return new Map([...own, ...command.commands.flatMap((subcommand) => [...choicesOf(subcommand)])]);
}

/** Returns the options whose value is the name of a file. */
function fileOptionsOf(command: Command): string[] {
  const own = command.options.flatMap(({ long, flags }) => (long && flags.endsWith(fileName) ? [long] : []));
  return [...new Set([...own, ...command.commands.flatMap(fileOptionsOf)])];
}

/**
 * Returns the shell code that completes `pms` commands in bash and zsh. The shell code reads the words before the
 * cursor from the variable `typed`, and writes the possible next words to the variable `candidates`.
 */
function candidateLines(program: Command): string {
  const commands = commandsOf(program);
  const paths = commands.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`]));
  const values = [...choicesOf(program)].map(
    ([option, words]) => `${option}) candidates='${words.join(' ')}' ;;`,
  );
  const followers = commands.map(
    ({ path, words }) => `'${path}') candidates='${words.map(({ text }) => text).join(' ')}' ;;`,
  );
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

/** Returns a text in single quotes, escaped as the shell fish requires. */
const fishText = (text: string) => `'${text.replace(/['\\]/g, String.raw`\$&`)}'`;

/**
 * Returns the shell code that completes `pms` commands in fish. In contrast to bash and zsh, fish also shows a
 * description of each possible next word.
 */
function fishLines(program: Command): string {
  const commands = commandsOf(program);
  const paths = commands.flatMap(({ path }) => (path === '' ? [] : [fishText(path)]));
  const values = [...choicesOf(program)].map(
    ([option, words]) => `case ${option}
      printf '%s\\n' ${words.join(' ')}
      return`,
  );
  const followers = commands.map(
    ({ path, words, takesFile }) => `case ${fishText(path)}
      printf '%s\\t%s\\n' ${words.flatMap(({ text, explanation }) => [text, fishText(explanation)]).join(' ')}${
        takesFile ? '\n      __fish_complete_path (commandline -ct)' : ''
      }`,
  );
  return `  set -l so_far ''
  set -l previous ''
  for word in (commandline -opc)[2..]
    set previous $word
    switch (string trim -- "$so_far $word")
      case ${paths.join(' ')}
        set so_far (string trim -- "$so_far $word")
    end
  end
  switch $previous
    ${values.join('\n    ')}
    case ${fileOptionsOf(program).join(' ')}
      __fish_complete_path (commandline -ct)
      return
  end
  switch $so_far
    ${followers.join('\n    ')}
  end`;
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
  fish: (program) => `function __pms_candidates
${fishLines(program)}
end
complete -c pms -f -a '(__pms_candidates)'
`,
};

/** Adds the command `completion`. */
export function addCompletionCommand(program: Command, write: (text: string) => void): void {
  withoutJson(program.command('completion'), 'a shell script')
    .description('print a script that completes commands and options: source <(pms completion bash)')
    .addHelpText(
      'after',
      examples(
        'source <(pms completion bash)',
        'pms completion zsh > ~/.zsh/completions/_pms',
        'pms completion fish > ~/.config/fish/completions/pms.fish',
      ),
    )
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: (typeof shells)[number]) => write(scripts[shell](program)));
}
