import {
  getNullableType,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ruleSchema } from '../../rest/json-schema.ts';
import { schema } from '../../schema/index.ts';
import { parkingEventRule } from '../../schema/parking-event.ts';
import { plateRule, whitelistEntryRule } from '../../schema/whitelist.ts';
import { argumentRule } from '../../src/graphql/operation-plan.ts';

/**
 * The validation rules that a resolver applies in its own code. A resolver applies a rule itself when the rule checks
 * each row of a list separately, or checks two arguments together.
 */
const rulesOfResolvers: Record<string, z.ZodType> = {
  'Mutation.importWhitelistEntries(entries)': z.array(whitelistEntryRule),
  'Mutation.recordParkingEvents(events)': z.array(parkingEventRule),
  'Query.plateAccess(plate)': plateRule,
};

/**
 * The maximum length of a text argument, in characters. The longest texts that clients send as arguments are the
 * cursors for the list of whitelist changes.
 */
const maxTextLength = 16_384;

const isHarmless = (value: unknown) =>
  value === undefined ||
  (typeof value === 'string' &&
    value.length <= maxTextLength &&
    value.isWellFormed() &&
    !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(value));

const hostileTexts = ['\u0000', 'a\u0000b', '\ud800', 'a\u001bb', 'x'.repeat(maxTextLength + 1)];

/**
 * Maps each GraphQL scalar type to values that are invalid for an argument of this type. Every validation rule for an
 * argument of a scalar type must refuse or change the invalid values of this type.
 */
const hostileValues: Record<string, unknown[]> = {
  String: hostileTexts,
  ID: hostileTexts,
  Int: [2 ** 31, -(2 ** 31) - 1, 0.5, Number.NaN, Infinity],
  Float: [Infinity, -Infinity, Number.NaN, 1e308],
  DateTime: [new Date(Number.NaN), new Date(8.64e15), new Date(-1), '0000-01-01T00:00:00Z', '\u0000'],
  JSON: [{ text: '\u0000' }, { '\ud800': 1 }, { text: 'x'.repeat(2 ** 20) }, nested(100)],
};

function nested(levels: number): unknown {
  return levels === 0 ? {} : { in: nested(levels - 1) };
}

/**
 * Removes the Zod wrappers from a validation rule, and returns the inner rule. A Zod wrapper makes a rule optional or
 * nullable, or transforms the result of the rule.
 */
function bare(rule: unknown, isLeaf: boolean): unknown {
  if (rule instanceof z.ZodOptional || rule instanceof z.ZodNullable) return bare(rule.unwrap(), isLeaf);
  if (!isLeaf && rule instanceof z.ZodPipe) return bare(rule.in, isLeaf);
  return rule;
}

/**
 * Returns the path and the validation rule (if any) of each scalar value in an argument. For an argument with an input
 * type, the function returns the path and the rule of each scalar field in this input type.
 */
function leavesOf(
  path: string,
  given: GraphQLInputType,
  rule: unknown,
): { path: string; scalar: string; rule: unknown }[] {
  const type = getNullableType(given);
  if (isScalarType(type)) return [{ path, scalar: type.name, rule: bare(rule, true) }];
  const inner = bare(rule, false);
  if (isListType(type)) {
    return leavesOf(`${path}[]`, type.ofType, inner instanceof z.ZodArray ? inner.element : undefined);
  }
  if (!isInputObjectType(type)) return [];
  const shape: Record<string, unknown> = inner instanceof z.ZodObject ? inner.shape : {};
  return Object.values(type.getFields()).flatMap((field) =>
    leavesOf(`${path}.${field.name}`, field.type, shape[field.name]),
  );
}

const leaves = Object.values(schema.getTypeMap())
  .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
  .flatMap((type) =>
    Object.values(isObjectType(type) ? type.getFields() : {}).flatMap((field) =>
      field.args.flatMap((argument) => {
        const path = `${type.name}.${field.name}(${argument.name})`;
        return leavesOf(path, argument.type, rulesOfResolvers[path] ?? argumentRule(argument));
      }),
    ),
  );

describe.each(Object.entries(hostileValues))(
  'validation of arguments and input fields of type %s',
  (scalar, values) => {
    const ofScalar = leaves.filter((leaf) => leaf.scalar === scalar);

    test('every argument and input field has a validation rule', () => {
      expect(ofScalar).not.toEqual([]);
      expect(ofScalar.filter(({ rule }) => rule === undefined).map(({ path }) => path)).toEqual([]);
    });

    test('the validation rule of every argument refuses or corrects invalid values, such as control characters and infinite numbers', () => {
      const passed = ofScalar.flatMap(({ path, rule }) =>
        values
          .filter((value) => rule instanceof z.ZodType && rule.safeParse(value).success)
          .filter((value) => !isHarmless((rule as z.ZodType).parse(value)))
          .map((value) => `${path}: ${JSON.stringify(value).slice(0, 40)}`),
      );
      expect(passed).toEqual([]);
    });
  },
);

test('the tests of validation rules cover every scalar type that clients can send', () => {
  const known = [...Object.keys(hostileValues), 'Boolean'];
  expect(leaves.map(({ scalar }) => scalar).filter((scalar) => !known.includes(scalar))).toEqual([]);
});

// To check a text that a client sends, the gateway runs the code of a validation rule. The OpenAPI document describes
// the validation rule with a regular expression, which comes from the metadata (`meta`) of the rule. The tests check
// that the code and the regular expression of each validation rule refuse the same texts.
describe('text patterns in the OpenAPI document', () => {
  const ajv = new Ajv2020();
  addFormats.default(ajv);
  const rules = leaves.flatMap(({ path, scalar, rule }) =>
    scalar === 'String' && rule instanceof z.ZodType ? [{ path, rule }] : [],
  );
  const texts = ['', ' ', ...Array.from({ length: 0xa0 }, (_, code) => `a${String.fromCharCode(code)}a`)];

  /** Returns the texts that only the OpenAPI pattern accepts, and the texts that only the validation rule accepts. */
  const differing = ({ path, rule }: { path: string; rule: z.ZodType }) => {
    const isDescribed = ajv.compile(ruleSchema(rule));
    const accepts = (text: string) => rule.safeParse(text).success;
    // Some validation rules accept only names from a fixed list, and the OpenAPI document does not contain this list.
    // The test skips most texts for such a rule. If a rule refuses white space, as the rule for a URL does, the test
    // skips texts with white space for this rule.
    return texts
      .filter((text) => text === '' || accepts('aaa'))
      .filter((text) => !/\s/.test(text) || accepts('a a'))
      .filter((text) => isDescribed(text) !== accepts(text))
      .map((text) => `${path}: ${JSON.stringify(text)}`);
  };

  test('the patterns in the OpenAPI document and the validation rules refuse exactly the same texts', () => {
    expect(rules).not.toEqual([]);
    expect(rules.flatMap(differing)).toEqual([]);
  });
});
