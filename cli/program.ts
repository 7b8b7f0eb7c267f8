import { Command, CommanderError, Help, type Option } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { examples } from './arguments.ts';
import { addCheckCommand } from './check.ts';
import { addCompanyCommands } from './companies.ts';
import { addCompletionCommand } from './completion.ts';
import { addEventCommands } from './events.ts';
import { addExportCommand } from './export.ts';
import { exitCode, Failure } from './failure.ts';
import { addImportCommand } from './import.ts';
import { addKeyCommands } from './keys.ts';
import { addListenCommand } from './listen.ts';
import { addLocationCommands } from './locations.ts';
import { addOccupancyCommands } from './occupancy.ts';
import type { Streams } from './output.ts';
import { addParityCommand } from './parity.ts';
import { printableLines } from './printable.ts';
import { addQuotaCommands } from './quotas.ts';
import { openSession, type SessionOptions } from './session.ts';
import { addStatusCommand } from './status.ts';
import { addSyncCommand } from './sync.ts';
import { addTranslateCommand } from './translate.ts';
import { addTriggerCommand } from './trigger.ts';
import { addUsageCommand } from './usage.ts';
import { addWebhookCommands } from './webhooks.ts';
import { addWhitelistCommands } from './whitelist.ts';

const plainHelp = new Help();

/**
 * The settings for the help texts of all commands. In a help text, required options come first and are marked, and
 * global options come last.
 */
const help = {
  showGlobalOptions: true,
  visibleOptions: (command: Command) => {
    const options = plainHelp.visibleOptions(command);
    return [
      ...options.filter(({ mandatory }) => mandatory),
      ...options.filter(({ mandatory }) => !mandatory),
    ];
  },
  optionDescription: (option: Option) =>
    `${option.mandatory ? '(required) ' : ''}${plainHelp.optionDescription(option)}`,
};
/**
 * Runs a command.
 *
 * @param args the command-line arguments after the name of the program
 * @returns the exit code of the program
 */
export async function runProgram(
  args: readonly string[],
  streams: Streams,
  env: Record<string, string | undefined>,
): Promise<number> {
  let code: number = exitCode.done;
  const program = new Command('pms')
    .description('The command line of the parking gateway. The key is read from PMS_API_KEY or from a file.')
    .version(packageJson.version)
    .option('--url <url>', 'the address of the gateway (PMS_URL)', env.PMS_URL ?? 'http://127.0.0.1:3000')
    .option('--key-file <file>', 'a file with the key, instead of PMS_API_KEY; - for the standard input')
    .option('--json', 'print JSON for scripts instead of tables')
    .option('--full-ids', 'print complete identifiers in tables instead of their last characters')
    .addHelpText(
      'after',
      examples('export PMS_API_KEY=…', 'pms whoami', 'pms locations list', 'pms whitelist add --help'),
    )
    .configureHelp(help)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => streams.out.write(text),
      writeErr: (text) => streams.err.write(text),
    });
  const open = () => openSession(program.opts<SessionOptions>(), streams, env, args);
  addKeyCommands(program, open);
  addUsageCommand(program, open, (ended) => (code = ended));
  addCompanyCommands(program, open);
  addLocationCommands(program, open);
  addWhitelistCommands(program, open);
  addCheckCommand(program, open);
  addQuotaCommands(program, open);
  addImportCommand(program, open, (ended) => (code = ended));
  addExportCommand(program, open);
  addSyncCommand(program, open);
  addStatusCommand(program, open);
  addEventCommands(program, open, (ended) => (code = ended));
  addOccupancyCommands(program, open);
  addWebhookCommands(program, open);
  addListenCommand(program, open);
  addTriggerCommand(program, open);
  addTranslateCommand(program, open, (ended) => (code = ended));
  addParityCommand(program, open, (ended) => (code = ended));
  addCompletionCommand(program, (text) => streams.out.write(text));

  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage;
    const known = error instanceof Failure || 'syscall' in (error as Error);
    const { message, stack = message } = error as Error;
    streams.err.write(`${printableLines(known ? message : stack)}\n`);
    return error instanceof Failure ? error.exitCode : exitCode.failed;
  }
}
