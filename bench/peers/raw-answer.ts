import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

// This server shows the upper limit for a case. It is Node's HTTP server. It checks nothing and answers every request
// with the content of ANSWER_FILE.

const { status, headers, body } = JSON.parse(readFileSync(process.env.ANSWER_FILE!, 'utf8')) as {
  status: number;
  headers: Record<string, string>;
  body: string;
};

createServer((_, response) => {
  response.writeHead(status, headers);
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');
