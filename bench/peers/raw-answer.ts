import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

// The benchmark measures how many requests per second this plain Node HTTP server answers. On the same machine, no
// benchmark case can reach more requests per second than this plain Node server. The plain Node server does not check
// requests. The environment variable `ANSWER_FILE` contains the path of a file with one response. The server sends this
// response to every request.

const { status, headers, body } = JSON.parse(readFileSync(process.env.ANSWER_FILE!, 'utf8')) as {
  status: number;
  headers: Record<string, string>;
  body: string;
};

createServer((_, response) => {
  response.writeHead(status, headers);
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');
