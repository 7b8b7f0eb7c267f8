import type { CodegenConfig } from '@graphql-codegen/cli';

const scalars = {
  ID: 'string',
  DateTime: { input: 'string | Date', output: 'string' },
  JSON: { input: 'unknown', output: 'unknown' },
};

/**
 * Returns the settings with which the code generator creates typed documents from the GraphQL operations in a folder.
 */
const documentsOf = (folder: string, options: object = {}) => ({
  documents: `${folder}/operations/*.graphql`,
  plugins: ['typescript-operations', 'typed-document-node'],
  config: { scalars, useTypeImports: true, avoidOptionals: { field: true }, ...options },
});

/**
 * In the generated code of the command line, enum values have the same names as in the GraphQL schema. The command line
 * uses these enum names as the allowed values of its options.
 */
const enumValues = {
  enumType: 'const',
  ignoreEnumValuesFromSchema: true,
  namingConvention: { enumValues: 'keep' },
};

// The generated file schema/schema.graphql contains the whole GraphQL schema. People and tools read this file, but the
// gateway does not. REST, the command line and the console use the generated typed documents to run their GraphQL
// operations.
const config: CodegenConfig = {
  schema: './schema/index.ts',
  generates: {
    'schema/schema.graphql': { plugins: ['schema-ast'] },
    'rest/generated/operations.ts': documentsOf('rest'),
    'cli/generated/operations.ts': documentsOf('cli', enumValues),
    'pages/console/generated/operations.ts': documentsOf('pages/console'),
  },
};

export default config;
