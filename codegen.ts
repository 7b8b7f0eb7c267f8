import type { CodegenConfig } from '@graphql-codegen/cli';

const scalars = {
  ID: 'string',
  DateTime: { input: 'string | Date', output: 'string' },
  JSON: { input: 'unknown', output: 'unknown' },
};

// schema/schema.graphql is what a reviewer reads; the typed documents are what REST executes.
const config: CodegenConfig = {
  schema: './schema/index.ts',
  generates: {
    'schema/schema.graphql': { plugins: ['schema-ast'] },
    'rest/generated/operations.ts': {
      documents: 'rest/operations/*.graphql',
      plugins: ['typescript-operations', 'typed-document-node'],
      config: { scalars, useTypeImports: true, enumsAsTypes: true, avoidOptionals: { field: true } },
    },
  },
};

export default config;
