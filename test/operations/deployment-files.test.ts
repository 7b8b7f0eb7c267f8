import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { variableNames } from '../../src/config.ts';
import { projectFolder } from '../support/documentation.ts';

const read = (path: string) => readFileSync(join(projectFolder, path), 'utf8');

/** Searches a file of the project with a regular expression, and returns the integer that the capture group matched. */
function numberIn(path: string, pattern: RegExp): number {
  const [, digits] = pattern.exec(read(path)) ?? [];
  expect(digits, `${pattern.source} in ${path}`).toBeDefined();
  return Number(digits!.replaceAll('_', ''));
}

describe('time limits for a gateway that stops', () => {
  const stopSeconds = () => numberIn('src/server.ts', /^const stopTimeoutMs = ([\d_]+);$/m) / 1000;

  test('the stop timeout in compose.yaml is long enough for a gateway to stop', () => {
    const graceSeconds = numberIn(
      'compose.yaml',
      /^x-gateway: &gateway\n(?: {2}.*\n)*? {2}stop_grace_period: (\d+)s\n/m,
    );
    expect(graceSeconds).toBeGreaterThan(stopSeconds());
  });

  test('the stop timeout for systemd is long enough for a gateway to stop', () => {
    const graceSeconds = numberIn('docs/parking-gateway.service', /^TimeoutStopSec=(\d+)$/m);
    expect(graceSeconds).toBeGreaterThan(stopSeconds());
  });

  test('the stop timeout for containers in docs/production.md is long enough for a gateway to stop', () => {
    const graceSeconds = numberIn('docs/production.md', /`docker run --stop-timeout (\d+)`/);
    expect(graceSeconds).toBeGreaterThan(stopSeconds());
  });
});

describe('several gateway processes on one machine', () => {
  const ports = variableNames.filter((name) => /(^|_)PORT$/.test(name));
  const instances = read('docs/scaling/instances.conf');

  test('docs/scaling/instances.conf gives each instance its own value of every port variable', () => {
    const portsOf = (instance: number) =>
      ports.map((name) =>
        new RegExp(`[ =]${name}=(\\S+)`).exec(instances)?.[1]?.replace('%i', String(instance)),
      );
    const used = [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap(portsOf);
    expect(used.filter((port) => !/^\d{4}$/.test(port ?? ''))).toEqual([]);
    const balancerPort = '3000';
    expect(new Set([balancerPort, ...used]).size).toBe(1 + used.length);
  });

  test('docs/scaling.md says that the shared environment file must not set the port variables', () => {
    const rule = /`\/etc\/parking-gateway\.env`\s+must not set ([^.]+)\./.exec(read('docs/scaling.md'))?.[1];
    expect(ports.filter((name) => !rule?.includes(`\`${name}\``))).toEqual([]);
  });
});
