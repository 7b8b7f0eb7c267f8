import { instantFault } from '../schema/instant.ts';
import type { FileRow, Rejection } from './batch-import.ts';
import {
  AccessReason,
  type ParkingEventInput,
  ParkingEventKind,
  type ReadingInput,
} from './generated/operations.ts';
import { isObject } from './is-object.ts';
import { longTextRejection } from './request-size.ts';
import { type Source, textOf } from './source.ts';

/** A line of a file with parking events. If the line is not a well-formed event, `rejection` contains the reason. */
export interface EventLine extends FileRow {
  event: unknown;
}

const kinds = Object.keys(ParkingEventKind);
const reasons = Object.keys(AccessReason);
const isText = (value: unknown): value is string => typeof value === 'string';
const isOneOf = (values: readonly string[], value: unknown) => isText(value) && values.includes(value);
const isAbsent = (value: unknown) => value === undefined || value === null;

/** Returns the reason why a value is invalid, or `undefined` when the value is valid. */
type Rule = (value: unknown) => string | undefined;

const must =
  (isRight: (value: unknown) => boolean, message: string): Rule =>
  (value) =>
    isRight(value) ? undefined : message;

const plateRules: Record<string, Rule> = Object.fromEntries(
  ['plateType', 'plateCode', 'plateNumber'].map((field) => [field, must(isText, 'Must be a text')]),
);

const readingRules: Record<keyof ReadingInput, Rule> = {
  text: must(isText, 'Must be a text'),
  plateType: must((value) => isAbsent(value) || isText(value), 'Must be a text'),
  confidence: must((value) => isAbsent(value) || typeof value === 'number', 'Must be a number'),
  alternatives: must(
    (value) => isAbsent(value) || (Array.isArray(value) && value.every(isText)),
    'Must be a list of strings',
  ),
};

const eventRules: Record<keyof ParkingEventInput, Rule> = {
  eventId: must(isText, 'Must be a text'),
  kind: must((value) => isOneOf(kinds, value), `Must be ${kinds.join(' or ')}`),
  plate: must(
    (value) => isAbsent(value) || isObject(value),
    'Must be an object with plateType, plateCode and plateNumber',
  ),
  reading: must((value) => isAbsent(value) || isObject(value), 'Must be an object with text'),
  occurredAt: instantFault,
  decision: must(
    (value) => isAbsent(value) || isOneOf(reasons, value),
    `Must be one of ${reasons.join(', ')}`,
  ),
  entryId: must((value) => isAbsent(value) || isText(value), 'Must be a text'),
};

/**
 * Returns the first invalid field of an object together with an error message, or `undefined` when all fields are
 * valid.
 */
function fault(value: Record<string, unknown>, rules: Record<string, Rule>): Rejection | undefined {
  const code = 'VALIDATION_ERROR';
  for (const field of Object.keys(value)) {
    if (!Object.hasOwn(rules, field)) return { code, message: 'Unknown field', field };
  }
  for (const [field, rule] of Object.entries(rules)) {
    const message = rule(value[field]);
    if (message !== undefined) return { code, message, field, value: value[field] };
  }
  return undefined;
}

/**
 * Returns the reason why a parking event is malformed, or `undefined` when the event is well-formed. `pms` checks the
 * form of each parking event, because one malformed event would make the whole GraphQL request fail. `pms` checks only
 * the form of a parking event; the gateway checks all other rules for parking events.
 */
function formFault(event: unknown): Rejection | undefined {
  if (!isObject(event)) return { code: 'VALIDATION_ERROR', message: 'Must be a JSON object' };
  const { plate, reading } = event;
  return (
    fault(event, eventRules) ??
    (isObject(plate) ? fault(plate, plateRules) : undefined) ??
    (isObject(reading) ? fault(reading, readingRules) : undefined) ??
    longTextRejection(event)
  );
}

/** Yields the lines of a text. A line ends with LF, CRLF or CR. */
async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of text) {
    // If a chunk ends with CR, the next chunk may begin with LF, and both characters together are one line ending
    // (CRLF). The function therefore waits for the next chunk.
    const lines = (rest + chunk).split(/\r?\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest;
}

/**
 * Reads parking events from a file with one JSON object in each line. The function can also read a file of rejected
 * events. In such a file, the field `event` of each JSON object contains the parking event.
 *
 * @throws {Failure} when the file cannot be read, or is not in UTF-8
 */
export async function* readEventLines(source: Source): AsyncGenerator<EventLine> {
  let line = 0;
  for await (const text of linesOf(textOf(source))) {
    line += 1;
    if (text.trim() !== '') yield eventLineOf(text, line);
  }
}

/** Parses a line of a file with parking events. */
function eventLineOf(text: string, line: number): EventLine {
  try {
    const parsed: unknown = JSON.parse(text);
    const event = isObject(parsed) && 'event' in parsed ? parsed.event : parsed;
    return { line, event, rejection: formFault(event) };
  } catch {
    return { line, event: text, rejection: { code: 'VALIDATION_ERROR', message: 'Must be JSON' } };
  }
}
