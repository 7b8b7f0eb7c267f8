// This script runs after `npm run build`, and makes the container image smaller. In node_modules and package.json, the
// script keeps only the npm packages that the bundle does not contain (external-packages.mjs), and removes all other
// packages.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { externalPackages } from './external-packages.mjs';

const { name, version, type, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const kept = Object.fromEntries(externalPackages.map((each) => [each, dependencies[each]]));
writeFileSync(
  'package.json',
  `${JSON.stringify({ name, version, type, private: true, dependencies: kept }, null, 2)}\n`,
);
const { status } = spawnSync(
  'npm',
  ['prune', '--omit=dev', '--omit=optional', '--omit=peer', '--ignore-scripts', '--no-audit', '--no-fund'],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
