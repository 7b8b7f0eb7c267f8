import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  containsInexactNumber,
  hasInexactNumber,
  isExact,
  isInexactMember,
  parseExactly,
} from '../../src/json/exact-numbers.ts';

describe('JSON numbers that JavaScript can parse without a change of their value', () => {
  test('isExact returns true for every JSON number that JSON.stringify writes, even with added zeros or with an exponent', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = JSON.stringify(value);
        expect(isExact(text)).toBe(true);
        const [mantissa, exponent = '0'] = text.split('e');
        expect(isExact(`${mantissa}e${exponent}`)).toBe(true);
        expect(isExact(`${mantissa}${mantissa!.includes('.') ? '' : '.'}000E${exponent}`)).toBe(true);
      }),
    );
  });

  test('isExact tells whether the digits of an integer stay the same when JavaScript parses the integer and writes it again as JSON', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 69n), max: 2n ** 69n }), (value) => {
        expect(isExact(String(value))).toBe(JSON.stringify(Number(value)) === String(value));
      }),
      { numRuns: 1_000 },
    );
  });

  test.each(['-0', '-0.0', '-0e5', '1e400', '1e-400', '9007199254740993', `1${'0'.repeat(400)}`])(
    'isExact returns false for the JSON number %s, because the value changes when the number is parsed and written again',
    (text) => expect(isExact(text)).toBe(false),
  );
});

describe('JSON objects that contain numbers whose value changes when JavaScript parses them', () => {
  const text = `{"a":[1,{"b":1e400}],"c":{"d":[12345678901234567890]},"e":"1e400, -0,","f":{"g":[1.5]},"__proto__":{"h":-0}}`;

  test('hasInexactNumber returns true only for an object or array that directly contains a number that parsing would change', () => {
    const value = parseExactly(text) as { a: [number, object]; c: { d: object }; f: { g: object } };
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
    const { a, c, f } = value;
    const own = Object.getOwnPropertyDescriptor(value, '__proto__')!.value as object;
    expect([a[1], c.d, own].map(hasInexactNumber)).toEqual([true, true, true]);
    expect([value, a, c, f, f.g].map(hasInexactNumber)).toEqual([false, false, false, false, false]);
  });

  test('containsInexactNumber returns true for a value that contains, on any level, a number that parsing would change', () => {
    const value = parseExactly(text) as Record<string, unknown>;
    expect(Object.keys(value).filter((name) => isInexactMember(value, name))).toEqual([
      'a',
      'c',
      '__proto__',
    ]);
    expect([value, value.e, value.f].map(containsInexactNumber)).toEqual([true, false, false]);
  });

  test('isInexactMember returns true only for a property whose value is or contains a number that parsing would change', () => {
    const value = parseExactly('{"a":1,"b":-0,"c":[1,1e400],"d":12345678901234567890,"e":1}') as object;
    const { c } = value as { c: object };
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => isInexactMember(value, name))).toEqual([
      false,
      true,
      true,
      true,
      false,
      false,
    ]);
    expect([isInexactMember(c, '0'), isInexactMember(c, '1')]).toEqual([false, true]);
  });
});
