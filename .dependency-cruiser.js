// This file defines which folder may import which other folder. `npm run import-rules` fails if a source file contains
// an import that the rules in this file forbid. The following list shows the levels of the code, from the highest level
// to the lowest level. Code may import only code of its own level and code of lower levels. The rules in this file also
// forbid some imports that the levels of the code would allow.
//
// 1. app, gateway
// 2. graphql, http, rest
// 3. schema
// 4. domain folders
// 5. audit, usage
// 6. rate-limit
// 7. database, redis, errors

/**
 * Matches the modules that every folder may import: npm packages, package.json, the generated database types, and the
 * modules for ids, pagination, JSON texts, scheduling and spans.
 */
const shared =
  '^(node_modules/|prisma/generated/|package\\.json$|src/(ids|paging|json/[^/]+|scheduling/[^/]+|observability/spans)\\.ts$)';

/**
 * Matches the files of the request context and of observability. The folders `graphql` and `http` may import these
 * files.
 */
const requestContext = '^src/(context|observability/[^/]+)\\.ts$';

const foundation = ['database', 'errors', 'redis'];

const inFolders = (...folders) => `^src/(${folders.join('|')})/`;

/**
 * Maps each domain folder to the other domain folders that the files in this folder may import. In `domainImports`, a
 * folder must come after the folders that it may import. All domain folders may import `location-access`, which
 * contains the steps that all changes of a location share.
 */
const domainImports = {
  auth: [],
  companies: ['auth'],
  'location-access': ['auth'],
  whitelist: ['auth'],
  parking: ['auth', 'whitelist'],
  gates: ['auth', 'whitelist', 'parking'],
  locations: ['auth', 'companies', 'parking'],
  webhooks: ['auth', 'companies', 'whitelist'],
};

/**
 * Creates an import rule for the folder `from`. Its files may import only files of the same folder, shared modules, and
 * files that match a pattern in `allowed`.
 */
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
      comment: 'Files that import each other, types included, cannot be understood separately.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'A file that no other file imports is not needed.',
      severity: 'error',
      from: {
        orphan: true,
        path: '^(src|schema|rest|cli|pages)/',
        pathNot:
          '^src/(server|migrate|bootstrap-key)\\.ts$|\\.d\\.ts$|^pages/(build\\.mjs|browser/(explorer-start|reference|html-entities)\\.ts|console/console\\.tsx)$',
      },
      to: {},
    },
    {
      name: 'no-missing-dependency',
      comment: 'Every imported package must be in package.json.',
      severity: 'error',
      from: {
        path: '^(src|schema|rest|cli|pages)/',
        pathNot: '^pages/(build\\.mjs$|browser/|console/)|^rest/write-openapi\\.ts$',
      },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    folderRule(
      'scheduling',
      'The scheduler does not import the tasks that it runs.',
      inFolders('scheduling'),
      inFolders('errors'),
    ),
    folderRule('errors', 'Errors do not depend on other folders.', inFolders('errors')),
    folderRule('redis', 'The Redis connections do not depend on other folders.', inFolders('redis')),
    folderRule('database', 'The database folder does not depend on other folders.', inFolders('database')),
    folderRule(
      'rate-limit',
      'The rate limiter only counts points. The rate limiter does not import the code for API keys or requests.',
      inFolders('rate-limit'),
      inFolders(...foundation),
    ),
    folderRule(
      'audit-usage',
      'Domain folders write audit and usage records. The folders audit and usage do not import domain folders.',
      inFolders('audit', 'usage'),
      inFolders(...foundation),
    ),
    ...Object.entries(domainImports).map(([folder, others]) =>
      folderRule(
        `domain-${folder}`,
        'A domain folder contains rules that apply to GraphQL and REST. A domain folder does not depend on the schema, HTTP, GraphQL or REST. Imports between domain folders have no cycles.',
        inFolders(folder),
        inFolders(...others, 'location-access', 'audit', 'usage', ...foundation),
      ),
    ),
    folderRule(
      'schema',
      'The schema does not depend on a transport or a database client. Resolvers get their services from the context.',
      '^schema/',
      '^src/context\\.ts$',
      '^src/rate-limit/types\\.ts$',
      '^src/graphql/field-options\\.ts$',
      inFolders(...Object.keys(domainImports), 'audit', 'usage', 'errors'),
    ),
    {
      name: 'schema-clients',
      comment:
        'The schema does not depend on a transport or a database client. Resolvers get their services from the context.',
      severity: 'error',
      from: { path: '^schema/' },
      to: { path: '^node_modules/(hono|@hono|graphql-yoga|ioredis|pg|@electric-sql)/' },
    },
    folderRule(
      'graphql-http',
      'app.ts combines the folders graphql and http with the schema and REST. The folders graphql and http do not import the schema or REST.',
      inFolders('graphql', 'http'),
      requestContext,
      inFolders('graphql', 'http', 'auth', 'usage', 'rate-limit', 'errors'),
    ),
    folderRule(
      'rest',
      'REST executes GraphQL documents and never reads the database itself.',
      '^rest/',
      '^src/(context|observability/metrics)\\.ts$',
      inFolders('graphql', 'http', 'errors'),
      '^schema/(index|rules|map-values)\\.ts$',
      '^src/(audit/actions|webhooks/payload)\\.ts$', // needed to describe webhooks in the API reference
    ),
    {
      name: 'rest-clients',
      comment: 'REST executes GraphQL documents and never reads the database itself.',
      severity: 'error',
      from: { path: '^rest/' },
      to: { path: '(^|/)prisma/|^node_modules/(@prisma|pg|ioredis)/' },
    },
    {
      name: 'cli',
      comment:
        'The command line is a client of the gateway. From the code of the gateway, the command line imports only the validation of times (schema/instant.ts).',
      severity: 'error',
      from: { path: '^cli/' },
      to: {
        pathNot: '^(cli/|schema/instant\\.ts$|node_modules/|package\\.json$)',
        dependencyTypesNot: ['core'],
      },
    },
    folderRule(
      'pages',
      'The web pages document GraphQL and REST. The code of these pages does not read the database or API keys.',
      '^pages/(?!browser/|console/)',
      '^rest/(openapi|openapi-text|openapi-webhooks|json-schema|routes)\\.ts$',
      '^src/graphql/operation-plan\\.ts$',
      '^src/http/(request-state|responses/compression)\\.ts$',
      '^src/errors/error-table\\.ts$',
    ),
    {
      name: 'pages-browser',
      comment: 'Code that runs in a browser is a client of the gateway, and imports no code of the gateway.',
      severity: 'error',
      from: { path: '^pages/(browser|console)/' },
      to: { pathNot: '^(pages/(browser|console)/|node_modules/)' },
    },
    {
      name: 'surfaces',
      comment:
        'In src, only the files that start or assemble the gateway may import the GraphQL schema, REST or the pages.',
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
