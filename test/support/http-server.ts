import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Starts an HTTP server on a free port, and returns its URL. The HTTP server is closed at the end of the test. */
export async function startHttpServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends the body of a GraphQL request to the gateway at `url`, and forwards the answer of the gateway to a client. */
export async function forwardGraph(
  { url, key, body }: { url: string; key: string; body: BodyInit },
  response: ServerResponse,
): Promise<void> {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body,
  });
  response.writeHead(answer.status).end(await answer.text());
}
