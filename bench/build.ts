import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Builds the gateway, and bundles the benchmark's scripts into `bench/dist`. The bundles are in the folder
 * `bench/dist`, so that Node finds the npm packages in `bench/node_modules`.
 *
 * @param root the root folder of the project
 * @param entryPoints maps the name of each bundle to its source file
 */
export async function buildWithGateway(root: string, entryPoints: Record<string, string>): Promise<void> {
  await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: root });
  await build({
    absWorkingDir: root,
    entryPoints,
    outdir: 'bench/dist',
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    logLevel: 'warning',
  });
}
