// Who may import whom: `npm run import-rules` fails on an import that this file does not allow.
//
// app, gateway → graphql, http, rest → schema → domain folders → audit, usage → rate-limit → database, redis, errors

/** What every folder may use: libraries, Node, generated types of the database, and the types, ids, turns and spans that all share. */
const shared =
  '^(node_modules/|prisma/generated/|package\\.json$|src/(ids|map-values|pages|deferred-json|fair-turns|free-moment|list-in-parts|template|telemetry/spans)\\.ts$)';

/** Files at the top of src/ that describe what is put together; whoever answers requests may know them. */
const requestContext = '^src/(context|log|metrics|config)\\.ts$';

const domain = ['auth', 'companies', 'locations', 'parking', 'webhooks', 'whitelist'];
const foundation = ['database', 'errors', 'redis'];

const inFolders = (...folders) => `^src/(${folders.join('|')})/`;

/** Lets the files of a folder import from the given places, and from nowhere else. */
const folderRule = (name, comment, from, ...allowed) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { pathNot: [from, shared, ...allowed], dependencyTypesNot: ['core'] },
});

export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Files that import each other, types included, cannot be understood one at a time.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'A file that nothing imports is no longer needed.',
      severity: 'error',
      from: {
        orphan: true,
        path: '^(src|schema|rest|cli|pages)/',
        pathNot:
          '^src/(server|migrate|bootstrap-key)\\.ts$|\\.d\\.ts$|^pages/(build\\.mjs|browser/reference\\.ts)$',
      },
      to: {},
    },
    {
      name: 'no-missing-dependency',
      comment: 'What is imported must be in package.json.',
      severity: 'error',
      from: {
        path: '^(src|schema|rest|cli|pages)/',
        pathNot: '^pages/(build\\.mjs$|browser/)|^rest/write-openapi\\.ts$',
      },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    folderRule('errors', 'Errors know no other folder.', inFolders('errors')),
    folderRule('redis', 'The connections to Redis know no other folder.', inFolders('redis')),
    folderRule('database', 'The database knows nothing of what is stored in it.', inFolders('database')),
    folderRule(
      'rate-limit',
      'The limiter counts; it knows no keys and no requests.',
      inFolders('rate-limit'),
      inFolders(...foundation),
    ),
    folderRule(
      'audit-usage',
      'Records are written by the folders above, which they do not know.',
      inFolders('audit', 'usage'),
      inFolders('rate-limit', ...foundation),
    ),
    folderRule(
      'domain',
      'A domain folder holds what the service does, for every surface: it knows no schema, no HTTP and no other surface.',
      inFolders(...domain),
      inFolders('audit', 'usage', ...foundation),
    ),
    folderRule(
      'schema',
      'The graph knows no transport and no client of a database: what it needs arrives in the context.',
      '^schema/',
      '^src/context\\.ts$',
      '^src/rate-limit/types\\.ts$',
      inFolders(...domain, 'audit', 'usage', 'errors'),
    ),
    {
      name: 'schema-clients',
      comment:
        'The graph knows no transport and no client of a database: what it needs arrives in the context.',
      severity: 'error',
      from: { path: '^schema/' },
      to: { path: '^node_modules/(hono|@hono|graphql-yoga|ioredis|pg|@electric-sql)/' },
    },
    folderRule(
      'graphql-http',
      'The surfaces meet the graph in app.ts: they do not import the schema or each other.',
      inFolders('graphql', 'http'),
      requestContext,
      inFolders('graphql', 'http', 'auth', 'audit', 'usage', 'rate-limit', 'errors'),
    ),
    folderRule(
      'rest',
      'REST is a view of the graph: it executes documents and never asks the database.',
      '^rest/',
      '^src/context\\.ts$',
      inFolders('graphql', 'http', 'errors'),
      '^schema/(index|rules)\\.ts$',
      '^src/(audit/actions|webhooks/payload)\\.ts$', // what the reference says of webhooks
    ),
    {
      name: 'rest-clients',
      comment: 'REST is a view of the graph: it executes documents and never asks the database.',
      severity: 'error',
      from: { path: '^rest/' },
      to: { path: '(^|/)prisma/|^node_modules/(@prisma|pg|ioredis)/' },
    },
    {
      name: 'cli',
      comment: 'The command line is a client: it knows the gateway by its graph alone.',
      severity: 'error',
      from: { path: '^cli/' },
      to: { pathNot: '^(cli/|node_modules/|package\\.json$)', dependencyTypesNot: ['core'] },
    },
    folderRule(
      'pages',
      'The pages show the contract of both surfaces; they know neither data nor keys.',
      '^pages/(?!browser/)',
      '^rest/(openapi|openapi-text|openapi-webhooks|json-schema|routes)\\.ts$',
      '^src/graphql/operation-plan\\.ts$',
      '^src/http/(request-state|compression)\\.ts$',
      '^src/errors/error-table\\.ts$',
    ),
    {
      name: 'pages-browser',
      comment: 'What runs in a browser is a client: it knows the gateway by its graph alone.',
      severity: 'error',
      from: { path: '^pages/browser/' },
      to: { pathNot: '^(pages/browser/|node_modules/)' },
    },
    {
      name: 'surfaces',
      comment: 'Only what puts the gateway together sees the graph and REST.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(server|gateway|app|first-run)\\.ts$' },
      to: { path: '^(schema|rest|pages)/' },
    },
  ],
  options: {
    doNotFollow: { path: '^(node_modules|prisma/generated)/' },
    exclude: { path: '^(dist|data)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types', 'typings'],
    },
  },
};
