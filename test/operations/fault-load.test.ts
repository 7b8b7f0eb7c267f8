import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { startLoad } from '../faults/support/load.ts';
import { startReceiver } from '../support/receiver.ts';
import { freePort } from '../support/system-servers.ts';

test('the fault tests record the outcome of a parking event request as unknown when the gateway first refuses the connection and later answers with status 500', async () => {
  const port = await freePort();
  const access = { locationId: 'location', key: 'key', limitedKey: 'limited key' };
  const load = startLoad(
    [`http://127.0.0.1:${port}`],
    { ...access, receiver: await startReceiver() },
    { writers: 1 },
  );
  const outcomes = () => load.ledger.events.map(({ outcome }) => outcome);
  await expect.poll(outcomes).toEqual(['refused']);

  await new Promise<void>((resolve) => {
    const server = createServer(({ url }, response) => {
      if (url === '/graphql') resolve(load.stop());
      response.writeHead(500).end('{}');
    });
    onTestFinished(() => void server.close().closeAllConnections());
    server.listen(port, '127.0.0.1');
  });
  expect(outcomes()).toEqual(['unknown']);
});
