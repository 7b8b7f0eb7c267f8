import { Command, CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { addCheckCommand } from './check.ts';
import { addCompanyCommands } from './companies.ts';
import { addCompletionCommand } from './completion.ts';
import { addEventCommands } from './events.ts';
import { addExportCommand } from './export.ts';
import { exitCode, Failure } from './failure.ts';
import { addImportCommand } from './import.ts';
import { addKeyCommands } from './keys.ts';
import { addLocationCommands } from './locations.ts';
import { addOccupancyCommands } from './occupancy.ts';
import type { Streams } from './output.ts';
import { addParityCommand } from './parity.ts';
import { addQuotaCommands } from './quotas.ts';
import { openSession, type SessionOptions } from './session.ts';
import { addStatusCommand } from './status.ts';
import { addSyncCommand } from './sync.ts';
import { addTranslateCommand } from './translate.ts';
import { addUsageCommand } from './usage.ts';
import { addWebhookCommands } from './webhooks.ts';
import { addWhitelistCommands } from './whitelist.ts';

/**
 * Runs a command.
 *
 * @param args what stands behind the name of the program
 * @returns the exit code
 */
export async function runProgram(
  args: readonly string[],
  streams: Streams,
  env: Record<string, string | undefined>,
): Promise<number> {
  let code: number = exitCode.done;
  const program = new Command('pms')
    .description('The command line of the parking gateway. The key is taken from PMS_API_KEY or a file.')
    .version(packageJson.version)
    .option('--url <url>', 'where the gateway is (PMS_URL)', env.PMS_URL ?? 'http://127.0.0.1:3000')
    .option('--key-file <file>', 'a file with the key, in place of PMS_API_KEY; - for the standard input')
    .option('--json', 'JSON for scripts in place of tables')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => streams.out.write(text),
      writeErr: (text) => streams.err.write(text),
    });
  const open = () => openSession(program.opts<SessionOptions>(), streams, env);
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
  addTranslateCommand(program, open, (ended) => (code = ended));
  addParityCommand(program, open, (ended) => (code = ended));
  addCompletionCommand(program, (text) => streams.out.write(text));

  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage;
    const known = error instanceof Failure || 'syscall' in (error as Error);
    streams.err.write(`${known ? (error as Error).message : (error as Error).stack}\n`);
    return error instanceof Failure ? error.exitCode : exitCode.failed;
  }
}
