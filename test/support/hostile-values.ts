const digits = (count: number) => '9'.repeat(count);

const hostileTexts = [
  '',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\u0001\u001b[31m',
  '\u202eabc\u202c',
  '\ufeff',
  digits(500),
  'x'.repeat(20_000),
  'NaN',
  '__proto__',
  `' OR 1=1 --`,
  '%00',
  '2026-02-30T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
  '1969-12-31T23:59:59Z',
  `2026-01-01T00:00:00.${digits(500)}Z`,
  '00000000-0000-0000-0000-000000000000',
  Buffer.from('\u0000'.repeat(36)).toString('base64url'),
];

/**
 * Hostile values as JSON texts, which the tests send in place of valid values. The hostile values are JSON texts,
 * because `JSON.stringify` cannot write numbers such as 1e400 or -0.
 */
export const hostileValues: readonly string[] = [
  ...hostileTexts.map((text) => JSON.stringify(text)),
  '-1',
  '-0',
  '0.5',
  '1e400',
  '-1e400',
  '2147483647',
  '2147483648',
  '-2147483649',
  'null',
  '[]',
  '{}',
  '{"__proto__":{"a":1}}',
  '{"a":"\\u0000"}',
  `${'{"a":'.repeat(30)}1${'}'.repeat(30)}`,
];
