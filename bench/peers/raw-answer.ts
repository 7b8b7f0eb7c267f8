import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

// This plain Node HTTP server shows the maximum number of requests per second in a benchmark case on this machine.
// Without any checks, the plain Node server answers every request with the response that is stored in the file
// ANSWER_FILE.

const { status, headers, body } = JSON.parse(readFileSync(process.env.ANSWER_FILE!, 'utf8')) as {
  status: number;
  headers: Record<string, string>;
  body: string;
};

createServer((_, response) => {
  response.writeHead(status, headers);
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');
