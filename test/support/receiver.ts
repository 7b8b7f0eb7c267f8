import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

/** A webhook message that arrived at the receiver, with its headers and its body. */
interface ReceivedMessage {
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The response of the webhook receiver to this webhook message. */
  answer: Receiver['answer'];
}

/** A webhook receiver. */
export interface Receiver {
  url: string;
  /** All webhook messages that have arrived at the receiver, oldest first. */
  messages: ReceivedMessage[];
  /** The largest number of requests that the receiver has processed at the same time. */
  mostOpen: number;
  /**
   * How the receiver responds to each message that arrives from now on: with an HTTP status, not at all, or with a
   * protocol change (status 101).
   */
  answer: number | 'nothing' | 'upgrade';
  /** The receiver responds to a message only after the promise `mayAnswer` is fulfilled. */
  mayAnswer: Promise<void>;
}

/** Starts a webhook receiver on loopback. The receiver closes after the last test of the file. */
export async function startReceiver(): Promise<Receiver> {
  let open = 0;
  const server = createServer(async (request, response) => {
    open += 1;
    receiver.mostOpen = Math.max(receiver.mostOpen, open);
    response.on('close', () => (open -= 1));
    let body = '';
    for await (const chunk of request) body += chunk;
    const { headers } = request;
    const { answer } = receiver;
    receiver.messages.push({ id: String(headers['webhook-id']), headers, body, answer });
    if (answer === 'nothing') return;
    await receiver.mayAnswer;
    if (answer === 'upgrade') {
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
      return;
    }
    response.writeHead(answer, { Location: `${receiver.url}/elsewhere` }).end('answer');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    messages: [],
    mostOpen: 0,
    answer: 204,
    mayAnswer: Promise.resolve(),
  };
  return receiver;
}
