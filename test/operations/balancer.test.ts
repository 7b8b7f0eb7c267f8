import { readFileSync, readlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { readPages } from '../support/documentation.ts';
import { serve, sharedTestGateway } from '../support/harness.ts';
import { hasHaproxy, haproxyComplaints, haproxyFiles, startHaproxy } from '../support/haproxy.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);

/**
 * Starts HAProxy with the configuration of docs/scaling/gateways.cfg, in which the test gateway replaces the three
 * gateways.
 */
async function startBalancer() {
  const port = Number(new URL(url).port);
  const balancer = await startHaproxy([port, port, port]);
  onTestFinished(() => balancer.remove());
  return balancer;
}

test('the command in docs/scaling.md joins the configuration files of HAProxy in the correct order', () => {
  const { text } = readPages().find(({ path }) => path === 'docs/scaling.md')!;
  const paths = haproxyFiles.map((name) => `docs/scaling/${name}`).join(' ');
  expect(text).toContain(`cat ${paths} > /etc/haproxy/haproxy.cfg`);
});

test.runIf(hasHaproxy)('HAProxy accepts the documented configuration without a warning', () => {
  expect(haproxyComplaints()).toBe('');
});

test.runIf(hasHaproxy && userInfo().uid === 0)(
  'when root starts HAProxy with the documented configuration, HAProxy runs as the user haproxy in the root folder /var/lib/haproxy',
  async () => {
    const balancer = await startBalancer();
    const [, pid] = /^Pid: (\d+)$/m.exec(await balancer.command('show info'))!;
    const [, user, group] = /^haproxy:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))!;
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const idsIn = (field: string) => new RegExp(`^${field}:\t(.*)$`, 'm').exec(status)![1]!.split('\t');
    expect(new Set(idsIn('Uid'))).toEqual(new Set([user]));
    expect(new Set(idsIn('Gid'))).toEqual(new Set([group]));
    expect(readlinkSync(`/proc/${pid}/root`)).toBe('/var/lib/haproxy');
  },
);

test.runIf(hasHaproxy)(
  'HAProxy logs the path and the status of each request, but neither the query string nor the API key',
  async () => {
    const balancer = await startBalancer();
    const { key, locationId } = await gateway.newTenant();
    const path = `/api/locations/${locationId}/whitelist`;
    const response = await fetch(`${balancer.url}${path}?plateNumber=7001`, {
      headers: { 'X-API-Key': key },
    });
    await response.text();
    expect(response.status).toBe(200);
    await expect.poll(() => balancer.log()).toMatch(new RegExp(` 200 .* "GET ${path} HTTP/1.1"$`, 'm'));
    expect(balancer.log()).not.toContain(key);
    expect(balancer.log()).not.toContain('plateNumber');
  },
);
