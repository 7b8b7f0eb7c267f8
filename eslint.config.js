import tseslint from 'typescript-eslint';

/** Refuses imports, with the reason that the design gives. */
const noImports = (...groups) => ({
  'no-restricted-imports': [
    'error',
    { patterns: groups.map(([group, message]) => ({ group, message, caseSensitive: true })) },
  ],
});

const servers = [
  ['hono', 'hono/*', '@hono/*', 'graphql-yoga', 'ioredis', 'pg', '@electric-sql/*'],
  'The graph knows no transport and no client: they arrive in the context.',
];

export default tseslint.config(
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  { ignores: ['dist', 'data', 'prisma/generated', 'rest/generated', 'cli/generated', 'node_modules'] },
  ...tseslint.configs.strict,
  {
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
    },
  },
  { files: ['schema/**/*.ts'], rules: noImports(servers) },
  {
    files: ['rest/**/*.ts'],
    rules: noImports([
      ['**/prisma/**', '@prisma/*', 'pg', 'ioredis'],
      'REST is a view of the graph: it executes documents and never asks the database.',
    ]),
  },
  {
    files: ['cli/**/*.ts'],
    rules: noImports([
      ['**/src/**', '**/schema/**', '**/rest/**', '**/prisma/**'],
      'The command line is a client: it knows the gateway by its graph alone.',
    ]),
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/app.ts', 'src/server.ts', 'src/gateway.ts', 'src/listener.ts', 'src/welcome.ts'],
    rules: noImports([
      ['**/schema/**', '**/rest/**'],
      'Only what puts the gateway together sees the graph and REST.',
    ]),
  },
);
