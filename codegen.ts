import type { CodegenConfig } from '@graphql-codegen/cli';

const scalars = {
  ID: 'string',
  DateTime: { input: 'string | Date', output: 'string' },
  JSON: { input: 'unknown', output: 'unknown' },
};

/** Returns the configuration for the typed documents of a folder. */
const documentsOf = (folder: string, options: object = {}) => ({
  documents: `${folder}/operations/*.graphql`,
  plugins: ['typescript-operations', 'typed-document-node'],
  config: { scalars, useTypeImports: true, avoidOptionals: { field: true }, ...options },
});

/** Generates enums whose values equal the values in requests. The command line lists these values in its options. */
const enumValues = {
  enumType: 'const',
  ignoreEnumValuesFromSchema: true,
  namingConvention: { enumValues: 'keep' },
};

// schema/schema.graphql is generated for reviewers. REST, the command line and the console send the typed documents.
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
