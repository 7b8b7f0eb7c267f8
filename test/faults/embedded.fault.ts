import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { operatorKey } from './support/fleet.ts';
import { askGraph } from './support/tenant.ts';

describe('an embedded database whose first start was interrupted by SIGKILL', { timeout: 400_000 }, () => {
  test.each([100, 500, 1000, 2000])(
    'a gateway that was killed %i ms after the beginning of its first start starts again, and its embedded database keeps its data',
    async (afterMs) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'fault-embedded-'));
      const started: GatewayProcess[] = [];
      onTestFinished(async () => {
        await Promise.all(started.map((gateway) => gateway.end('SIGKILL')));
        rmSync(dataDir, { recursive: true });
      });
      const start = () => {
        const gateway = startGatewayProcess({ DATA_DIR: dataDir, OPERATOR_API_KEY: operatorKey });
        started.push(gateway);
        return gateway;
      };
      const first = start();
      await sleep(afterMs);
      await first.end('SIGKILL');
      const second = start();
      const url = await second.listening();
      const company = await askGraph<{ id: string }>(
        url,
        operatorKey,
        'mutation ($input: RegisterCompanyInput!) { registerCompany(input: $input) { id } }',
        { input: { name: 'Fault', slug: `embedded-${afterMs}`, address: 'Dubai' } },
      );
      await second.end('SIGKILL');
      const third = start();
      const found = await askGraph<{ id: string }>(
        await third.listening(),
        operatorKey,
        'query ($id: ID!) { company(id: $id) { id } }',
        { id: company.id },
      );
      expect(found.id).toBe(company.id);
      expect(await third.end()).toBe(0);
    },
  );
});
