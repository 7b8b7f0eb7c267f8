import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

// This plain Node HTTP server shows the maximum number of requests per second that a server on this machine can reject.
// The plain Node server checks nothing, and answers every request with the same error.

const refusals = {
  401: { code: 'UNAUTHORIZED', message: 'Invalid or missing API key' },
  429: { code: 'RATE_LIMIT_EXCEEDED', message: 'Too many requests, please try again later' },
};
const status = process.env.ANSWER === '429' ? 429 : 401;
const policy = '"hour";q=1000;w=3600, "burst";q=100;w=60';

createServer((_, response) => {
  const requestId = randomUUID();
  const body = JSON.stringify({ success: false, error: { ...refusals[status], requestId } });
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    'X-RateLimit-Limit': '1000',
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': String(Math.ceil(Date.now() / 1000)),
    'RateLimit-Policy': policy,
    RateLimit: '"hour";r=0;t=1, "burst";r=0;t=1',
    ...(status === 429 ? { 'Retry-After': '1' } : { 'WWW-Authenticate': 'ApiKey realm="parking-gateway"' }),
  });
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');
