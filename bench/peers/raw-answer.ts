import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

// The ceiling of a case: Node's own HTTP server, which gives every request the answer in ANSWER_FILE and looks at nothing.

const { status, headers, body } = JSON.parse(readFileSync(process.env.ANSWER_FILE!, 'utf8')) as {
  status: number;
  headers: Record<string, string>;
  body: string;
};

createServer((_, response) => {
  response.writeHead(status, headers);
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');
