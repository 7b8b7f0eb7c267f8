import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectFolder } from '../support/documentation.ts';
import { openTestGateway } from '../support/harness.ts';
import { complaints, hasPromtool } from '../support/promtool.ts';

const gateway = await openTestGateway();
const metrics = await (await gateway.metrics.app.request('/metrics')).text();

const read = (path: string) => readFileSync(join(projectFolder, path), 'utf8');
const alertsPath = 'docs/observability/alerts.yaml';
const dashboard = JSON.parse(read('docs/observability/grafana-dashboard.json')) as {
  panels: { title: string; targets?: { expr: string }[] }[];
  templating: { list: { type: string; query: string }[] };
};

/**
 * The names of all metric series that the response of `/metrics` can contain. Prometheus stores a histogram as three
 * series, with the endings `_bucket`, `_sum` and `_count`.
 */
const existing = new Set(
  [...metrics.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name, type]) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => `${name}${part}`) : [name!],
  ),
);
/** Prometheus itself records the series `up` for each scrape. */
existing.add('up');

/** PromQL keywords, which the test must not mistake for metric names. */
const keywords = new Set(['and', 'or', 'unless', 'bool']);

/** Returns the names of the metrics in a PromQL expression. */
function metricsIn(expression: string): string[] {
  const alone = expression
    .replace(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
    .replace(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, ' ');
  return [...alone.matchAll(/\b[a-z_:][\w:]*\b(?!\s*\()/gi)]
    .map(([name]) => name)
    .filter((name) => !keywords.has(name));
}

const panels: [string, string][] = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }): [string, string] => [title, expr]),
);
const alerts: [string, string][] = [...read(alertsPath).matchAll(/- alert: (\w+)\n\s+expr: (.+)\n/g)].map(
  ([, name, expr]) => [name!, expr!],
);
const choices: [string, string][] = dashboard.templating.list
  .filter(({ type }) => type === 'query')
  .map(({ query }) => [query, /^label_values\((.+), \w+\)$/.exec(query)![1]!]);

describe('the Grafana dashboard and the alert rules', () => {
  test('the tests of this file check more than ten Prometheus expressions of the Grafana dashboard, and every alert rule', () => {
    expect(panels.length).toBeGreaterThan(10);
    expect(alerts).toHaveLength(read(alertsPath).match(/expr:/g)!.length);
  });

  test.each([...panels, ...alerts, ...choices])(
    'every expression of the dashboard and the alert rules uses existing metrics: %s',
    (_, expression) => {
      const names = metricsIn(expression);
      expect(names).not.toEqual([]);
      expect(names.filter((name) => !existing.has(name))).toEqual([]);
    },
  );

  test('the function `metricsIn` finds all metric names in a PromQL expression, including the names of removed metrics', () => {
    expect(metricsIn('sum by (le) (rate(gateway_old_total{code="X"}[5m])) / up > 0.01')).toEqual([
      'gateway_old_total',
      'up',
    ]);
  });
});

describe.runIf(hasPromtool)('checks with promtool, a program of Prometheus', () => {
  test('promtool accepts the names and types of the metrics', () => {
    expect(complaints(['check', 'metrics'], metrics)).toBe('');
  });

  test('promtool accepts the alert rules', () => {
    expect(complaints(['check', 'rules', alertsPath])).toBe('');
  });
});
