import { type Command, InvalidArgumentError } from 'commander';
import { instantFault } from '../schema/instant.ts';
import { exitCode, Failure } from './failure.ts';
import type { PlateInput, WebhookEvent } from './generated/operations.ts';

/** Parses a whole number that a user wrote on the command line. */
export function wholeNumber(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('Must be a whole number.');
  const number = Number(value);
  // `JSON.stringify` writes a number that is too large for `Number` as null, which means "no limit" in many fields.
  if (!Number.isSafeInteger(number)) throw new InvalidArgumentError('Must be a smaller number.');
  return number;
}

/** Parses a whole number that must be at least 1. */
export function positive(value: string): number {
  const number = wholeNumber(value);
  if (number < 1) throw new InvalidArgumentError('Must be at least 1.');
  return number;
}

/**
 * Checks the value of an option that is a time, and returns the value unchanged. Only options whose time the command
 * itself uses need this check.
 */
export function time(value: string): string {
  const fault = instantFault(value);
  if (fault !== undefined) throw new InvalidArgumentError(`${fault}.`);
  return value;
}

/** Parses an option that is a number from 0 to 1, such as the confidence of a camera. */
export function fraction(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !(number >= 0 && number <= 1)) {
    throw new InvalidArgumentError('Must be a number from 0 to 1, such as 0.9.');
  }
  return number;
}

/**
 * Returns the values of a GraphQL enum in lower case, because users write these values in lower case on the command
 * line.
 */
export const choicesOf = <Value extends string>(values: Readonly<Record<string, Value>>) =>
  Object.values(values).map((value) => value.toLowerCase() as Lowercase<Value>);

/** Collects the values of an option that a user may give several times. */
export const collect = (value: string, earlier: readonly string[]) => [...earlier, value];

/**
 * Parses the name of a webhook event. Users can write this name in the form of webhook messages (`whitelist.created`)
 * or in the form of GraphQL (`WHITELIST_CREATED`).
 */
export const webhookEvent = (value: string) =>
  // This function does not check the name of the event, because the gateway rejects unknown event names.
  value.trim().toUpperCase().replaceAll('.', '_') as WebhookEvent;

/**
 * Collects the webhook events that a user has given with an option. A user can repeat the option, or separate several
 * events with commas.
 */
export const webhookEvents = (value: string, earlier: readonly WebhookEvent[] = []) => [
  ...earlier,
  ...value.split(',').map(webhookEvent),
];

/**
 * Parses a plate. A plate consists of a type, a code and a number, which are separated by spaces, slashes or hyphens.
 */
export function plate(value: string): PlateInput {
  const [plateType, plateCode, plateNumber, ...more] = value.trim().split(/[\s/-]+/);
  if (!plateType || !plateCode || !plateNumber || more.length > 0) {
    throw new InvalidArgumentError('Must be a plate: type, code and number, such as DXB/A/7001.');
  }
  return { plateType, plateCode, plateNumber };
}

/** Returns a plate as text that people can read. */
export const plateText = ({ plateType, plateCode, plateNumber }: PlateInput) =>
  `${plateType} ${plateCode} ${plateNumber}`;

/** The option `--safe-csv`, with which a command writes CSV files that are safe to open in a spreadsheet program. */
export const safeCsvOption = [
  '--safe-csv',
  "put ' before texts that a spreadsheet would run as a formula (=, +, -, @); such a file cannot be imported",
] as const;

/**
 * Checks that the user has given at least one option to a command such as `update`. Without an option, a command such
 * as `update` would change nothing.
 *
 * @throws {Failure} when the user has given no option
 */
export function requireChange(options: object): void {
  if (Object.keys(options).length === 0)
    throw new Failure('Nothing to change: give at least one option; --help lists them.', exitCode.usage);
}

/**
 * Makes a command refuse the option `--json`, because the command always writes a format other than JSON. If the
 * command ignored `--json`, a script that expects JSON would get data in another format.
 *
 * @param format the format that the command writes, for the error message
 * @param instead the command that prints the same data as JSON, if there is one
 */
export function withoutJson(command: Command, format: string, instead?: string): Command {
  return command.hook('preAction', () => {
    if (!command.optsWithGlobals<{ json?: boolean }>().json) return;
    const hint = instead === undefined ? '' : ` For JSON, use \`${instead}\`.`;
    throw new Failure(`This command writes ${format}: omit --json.${hint}`, exitCode.usage);
  });
}

/** Adds examples to the end of a command's help text. */
export const examples = (...lines: readonly string[]) =>
  ['', 'Examples:', ...lines.map((line) => `  $ ${line}`)].join('\n');

/** Adds the option `--location`, which most commands need. */
export function withLocation(command: Command): Command {
  return command.requiredOption('--location <location>', 'the id, slug or name of the location');
}
