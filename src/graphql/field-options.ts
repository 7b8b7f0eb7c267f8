import type { GraphQLField } from 'graphql';
import type { Permission } from '../../prisma/generated/client/enums.ts';
import type { ErrorCode } from '../errors/error-table.ts';

/** Computes one number for a GraphQL field (for example its cost) from the arguments of the field. */
type FromArguments = (values: Readonly<Record<string, unknown>>) => number;

/**
 * The cost of a GraphQL field. `field` is the cost of the field itself, without the subfields that a client selects. If
 * the field has a page size, the gateway multiplies the costs of the selected subfields by the page size. For a field
 * without a page size, the gateway multiplies the costs of the selected subfields by the option `multiplier`.
 */
export interface FieldCost {
  field: number | FromArguments;
  multiplier: number | FromArguments;
  /**
   * Whether subfields that read the database have a different multiplier from the other subfields. There are two
   * multipliers. The option `multiplier` is one of these multipliers. The other multiplier is the number of items on
   * the page (or of rows in the request). The larger multiplier applies to subfields that read the database, and the
   * smaller multiplier applies to the other subfields.
   */
  wholeReads?: boolean;
  /**
   * Whether the gateway reads the database to resolve the field. If the option `reads` is omitted, it counts as true
   * only for a field that returns objects. With `reads: false`, the field has no multiplier of its own. The gateway
   * then computes the costs of its subfields with the multipliers of the parent field.
   */
  reads?: boolean;
  /**
   * Whether the gateway always treats a query with this field as a heavy query, even if the query has a low cost. The
   * gateway runs only a few heavy queries at the same time. Set `isHeavy` for a field that can read many rows although
   * its cost is low.
   */
  isHeavy?: boolean;
  /** The default page size and the maximum page size of a field that returns pages. */
  pageSize?: { usual: number; max: number };
}

/** The options of a GraphQL field, which schema/field-options-plugin.ts stores in the extensions of the field. */
export interface FieldOptions {
  /** The permission that an API key must have to select the field. */
  permission?: Permission | undefined;
  /**
   * The error codes that the field may return. A field need not name the error codes for a missing permission and for
   * invalid arguments, because the gateway adds these codes.
   */
  errors?: readonly ErrorCode[] | undefined;
  cost?: FieldCost | undefined;
  /** For a root field whose argument is a list of rows: the number of rows that cost one rate limit point. */
  rowsPerPoint?: number | undefined;
}

/** Returns the options of a GraphQL field. */
export const optionsOf = ({ extensions }: GraphQLField<unknown, unknown>) => extensions as FieldOptions;
