import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { databaseVariables, type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { createScratchDatabase } from '../support/scratch-database.ts';

const operatorKey = 'operator-key-of-the-tests-0123456789';
const cleanUps: (() => unknown)[] = [];

afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

/** Starts a gateway process that runs the given JavaScript statement when it receives the signal SIGUSR2. */
async function startGateway(statement: string): Promise<GatewayProcess> {
  const scratch = await createScratchDatabase();
  const module = `process.on("SIGUSR2", () => { ${statement} })`;
  const gateway = startGatewayProcess({
    ...databaseVariables(scratch),
    OPERATOR_API_KEY: operatorKey,
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(module)}`,
  });
  cleanUps.push(
    () => scratch.drop(),
    () => gateway.child.kill('SIGKILL'),
  );
  await gateway.listening();
  return gateway;
}

describe('a gateway process with an uncaught error', () => {
  test.each([
    ['an exception', 'queueMicrotask(() => { throw new Error("outer", { cause: new Error("inner") }) })'],
    ['a rejection', 'void Promise.reject(new Error("outer", { cause: new Error("inner") }))'],
  ])(
    'after an uncaught error (%s), a gateway logs the cause, answers the requests in progress and exits with status 1',
    async (_, statement) => {
      const gateway = await startGateway(statement);
      const body = JSON.stringify({ query: '{ __typename }' });
      const { port } = new URL(gateway.url());
      const socket = connect(Number(port), '127.0.0.1');
      cleanUps.push(() => socket.destroy());
      let received = '';
      socket.on('data', (chunk) => (received += chunk));
      const closed = once(socket, 'close');
      const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nX-API-Key: ${operatorKey}\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
      socket.write(head);
      await expect.poll(() => received).toContain('100 Continue'); // after the status 100, the gateway waits for the request body
      const exited = once(gateway.child, 'exit');
      gateway.child.kill('SIGUSR2');
      await expect.poll(gateway.output).toContain('"level":60');
      socket.write(body);
      await closed;
      expect(received).toContain('{"data":{"__typename":"Query"}}');
      expect(received).toMatch(/connection: close/i);
      expect(await exited).toEqual([1, null]);
      const fatal = gateway
        .output()
        .split('\n')
        .find((line) => line.includes('"level":60'))!;
      expect(JSON.parse(fatal)).toMatchObject({ err: { message: 'outer', cause: { message: 'inner' } } });
    },
  );
});
