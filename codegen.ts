import type { CodegenConfig } from '@graphql-codegen/cli';

const scalars = {
  ID: 'string',
  DateTime: { input: 'string | Date', output: 'string' },
  JSON: { input: 'unknown', output: 'unknown' },
};

/** The typed documents of a folder. */
const documentsOf = (folder: string) => ({
  documents: `${folder}/operations/*.graphql`,
  plugins: ['typescript-operations', 'typed-document-node'],
  config: { scalars, useTypeImports: true, enumsAsTypes: true, avoidOptionals: { field: true } },
});

// schema/schema.graphql is what a reviewer reads; the typed documents are what REST and the command line send.
const config: CodegenConfig = {
  schema: './schema/index.ts',
  generates: {
    'schema/schema.graphql': { plugins: ['schema-ast'] },
    'rest/generated/operations.ts': documentsOf('rest'),
    'cli/generated/operations.ts': documentsOf('cli'),
  },
};

export default config;
