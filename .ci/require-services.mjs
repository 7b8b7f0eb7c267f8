// This script fails and prints the reason when it cannot connect to PostgreSQL or Redis.
import { Redis } from 'ioredis';
import pg from 'pg';

const { DATABASE_URL, REDIS_URL } = process.env;

const client = new pg.Client({ connectionString: DATABASE_URL, connectionTimeoutMillis: 5000 });
await client.connect();
const { rows } = await client.query('SHOW server_version');
await client.end();

const redis = new Redis(REDIS_URL, { lazyConnect: true, retryStrategy: null, connectTimeout: 5000 });
redis.on('error', () => {}); // This listener ignores errors, because `redis.connect()` throws them
await redis.connect();
const info = await redis.info('server');
redis.disconnect();

console.log(`PostgreSQL ${rows[0].server_version}, Redis ${/redis_version:(\S+)/.exec(info)?.[1]}`);
