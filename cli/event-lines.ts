import { createInterface } from 'node:readline/promises';
import { DateTimeISOResolver } from 'graphql-scalars';
import type {
  AccessReason,
  ParkingEventInput,
  ParkingEventKind,
  ReadingInput,
} from './generated/operations.ts';

/** Why a line is not recorded. */
export interface Rejection {
  code: string;
  message: string;
  field?: string | null;
  value?: unknown;
}

/** A line of a file of events. What is not even an event has no more than a rejection. */
export interface EventLine {
  /** Counted from 1. */
  line: number;
  event: unknown;
  rejection?: Rejection | undefined;
}

const kinds: Record<ParkingEventKind, true> = { ENTRY: true, EXIT: true };
const reasons: Record<AccessReason, true> = {
  LISTED: true,
  NOT_LISTED: true,
  NOT_YET_VALID: true,
  EXPIRED: true,
  OUTSIDE_HOURS: true,
  QUOTA_REACHED: true,
  USED_UP: true,
};
const isText = (value: unknown) => typeof value === 'string';
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
    'Must be a list of texts',
  ],
};

const eventRules: Record<keyof ParkingEventInput, Rule> = {
  eventId: [isText, 'Must be a text'],
  kind: [(value) => isText(value) && Object.hasOwn(kinds, value as string), 'Must be ENTRY or EXIT'],
  plate: [
    (value) => isAbsent(value) || isObject(value),
    'Must be an object with plateType, plateCode and plateNumber',
  ],
  reading: [(value) => isAbsent(value) || isObject(value), 'Must be an object with text'],
  occurredAt: [isTime, 'Must be an ISO 8601 date and time with an offset, such as 2026-01-31T08:00:00Z'],
  decision: [
    (value) => isAbsent(value) || Object.hasOwn(reasons, String(value)),
    `Must be one of ${Object.keys(reasons).join(', ')}`,
  ],
  entryId: [(value) => isAbsent(value) || isText(value), 'Must be a text'],
};

/** What is wrong with the fields of an object. */
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
 * What is wrong with the form of an event: it would fail the whole call, and the graph would not look at the other
 * events. What a form cannot say, the graph does.
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

/** Reads events from JSON lines: each an event, or a line of a file of rejected events, whose `event` it takes. */
export async function* readEventLines(file: NodeJS.ReadableStream): AsyncGenerator<EventLine> {
  let line = 0;
  for await (const text of createInterface({ input: file, crlfDelay: Infinity })) {
    line += 1;
    if (text.trim() === '') continue;
    try {
      const parsed: unknown = JSON.parse(line === 1 ? text.replace(/^\ufeff/, '') : text);
      const event = isObject(parsed) && 'event' in parsed ? parsed.event : parsed;
      yield { line, event, rejection: formFault(event) };
    } catch {
      yield { line, event: text, rejection: { code: 'VALIDATION_ERROR', message: 'Is not JSON' } };
    }
  }
}
