import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// This server is PostGraphile 5 on the database tables of the gateway, with the production settings from the
// PostGraphile documentation. Unlike the gateway, the PostGraphile server checks no API keys and no rate limits, and
// writes no log lines, audit records or usage records. PostGraphile needs Node 22 or later, and is installed separately
// from the gateway.

/**
 * The parts of the PostGraphile packages that this file uses. PostGraphile is not installed in this project, so this
 * file defines the types itself.
 */
interface PostGraphile {
  postgraphile(preset: object): { createServ(grafserv: unknown): { addTo(server: Server): Promise<void> } };
}

const resolve = createRequire(`${process.env.POSTGRAPHILE_FOLDER}/package.json`).resolve;
const load = async <Module>(name: string) => (await import(pathToFileURL(resolve(name)).href)) as Module;

const { postgraphile } = await load<PostGraphile>('postgraphile');
const { PostGraphileAmberPreset } = await load<{ PostGraphileAmberPreset: object }>(
  'postgraphile/presets/amber',
);
const { makePgService } = await load<{ makePgService(options: object): object }>('postgraphile/adaptors/pg');
const { grafserv } = await load<{ grafserv: unknown }>('postgraphile/grafserv/node');

const server = createServer();
await postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [
    makePgService({
      connectionString: process.env.DATABASE_URL,
      schemas: ['public'],
      poolConfig: { max: Number(process.env.DATABASE_POOL_SIZE) },
    }),
  ],
  grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false },
  grafast: { explain: false },
})
  .createServ(grafserv)
  .addTo(server);
server.listen(Number(process.env.PORT), '127.0.0.1');
