import { createInterface } from 'node:readline/promises';
import { DateTimeISOResolver } from 'graphql-scalars';
import type { FileRow, Rejection } from './batch-import.ts';
import { exitCode, Failure } from './failure.ts';
import {
  AccessReason,
  type ParkingEventInput,
  ParkingEventKind,
  type ReadingInput,
} from './generated/operations.ts';

/** A line of a file with parking events. If the line is not a well-formed event, `rejection` says why. */
export interface EventLine extends FileRow {
  event: unknown;
}

const kinds = Object.keys(ParkingEventKind);
const reasons = Object.keys(AccessReason);
const isText = (value: unknown): value is string => typeof value === 'string';
const isOneOf = (values: readonly string[], value: unknown) => isText(value) && values.includes(value);
const isAbsent = (value: unknown) => value === undefined || value === null;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isTime(value: unknown): boolean {
  try {
    DateTimeISOResolver.parseValue(value);
    return true;
  } catch {
    return false;
  }
}

type Rule = [isRight: (value: unknown) => boolean, message: string];

const plateRules: Record<string, Rule> = Object.fromEntries(
  ['plateType', 'plateCode', 'plateNumber'].map((field): [string, Rule] => [
    field,
    [isText, 'Must be a text'],
  ]),
);

const readingRules: Record<keyof ReadingInput, Rule> = {
  text: [isText, 'Must be a text'],
  plateType: [(value) => isAbsent(value) || isText(value), 'Must be a text'],
  confidence: [(value) => isAbsent(value) || typeof value === 'number', 'Must be a number'],
  alternatives: [
    (value) => isAbsent(value) || (Array.isArray(value) && value.every(isText)),
    'Must be a list of strings',
  ],
};

const eventRules: Record<keyof ParkingEventInput, Rule> = {
  eventId: [isText, 'Must be a text'],
  kind: [(value) => isOneOf(kinds, value), `Must be ${kinds.join(' or ')}`],
  plate: [
    (value) => isAbsent(value) || isObject(value),
    'Must be an object with plateType, plateCode and plateNumber',
  ],
  reading: [(value) => isAbsent(value) || isObject(value), 'Must be an object with text'],
  occurredAt: [isTime, 'Must be an ISO 8601 date and time with an offset, such as 2026-01-31T08:00:00Z'],
  decision: [(value) => isAbsent(value) || isOneOf(reasons, value), `Must be one of ${reasons.join(', ')}`],
  entryId: [(value) => isAbsent(value) || isText(value), 'Must be a text'],
};

/** Returns why the first invalid field of an object is invalid, or `undefined` when all fields are valid. */
function fault(value: Record<string, unknown>, rules: Record<string, Rule>): Rejection | undefined {
  const code = 'VALIDATION_ERROR';
  for (const field of Object.keys(value)) {
    if (!Object.hasOwn(rules, field)) return { code, message: 'Unknown field', field };
  }
  for (const [field, [isRight, message]] of Object.entries(rules)) {
    if (!isRight(value[field])) return { code, message, field, value: value[field] };
  }
  return undefined;
}

/**
 * Returns why an event is malformed, or undefined when the event is well-formed. `formFault` checks only the form of a
 * parking event, because one malformed event would make the whole GraphQL request fail. `pms` leaves all other rules
 * for parking events to the gateway.
 */
function formFault(event: unknown): Rejection | undefined {
  if (!isObject(event)) return { code: 'VALIDATION_ERROR', message: 'Must be a JSON object' };
  const { plate, reading } = event;
  return (
    fault(event, eventRules) ??
    (isObject(plate) ? fault(plate, plateRules) : undefined) ??
    (isObject(reading) ? fault(reading, readingRules) : undefined)
  );
}

/**
 * Reads events from a file with one JSON object in each line. A file of rejected events can also be read: each of its
 * JSON objects contains the event in the field `event`.
 *
 * @param name the name of the file for error messages
 * @throws {Failure} when the file cannot be read
 */
export async function* readEventLines(file: NodeJS.ReadableStream, name: string): AsyncGenerator<EventLine> {
  let line = 0;
  try {
    for await (const text of createInterface({ input: file, crlfDelay: Infinity })) {
      line += 1;
      if (text.trim() !== '') yield eventLineOf(text, line);
    }
  } catch (error) {
    throw new Failure(`Cannot read ${name}: ${(error as Error).message}`, exitCode.usage);
  }
}

/** Parses a line of a file with parking events. */
function eventLineOf(text: string, line: number): EventLine {
  try {
    const parsed: unknown = JSON.parse(line === 1 ? text.replace(/^\ufeff/, '') : text);
    const event = isObject(parsed) && 'event' in parsed ? parsed.event : parsed;
    return { line, event, rejection: formFault(event) };
  } catch {
    return { line, event: text, rejection: { code: 'VALIDATION_ERROR', message: 'Must be JSON' } };
  }
}
