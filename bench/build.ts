import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Builds the gateway, and bundles beside it what is no part of the product, as the gateway is bundled.
 *
 * @param root the folder of the project
 * @param entryPoints the source of each file that is made in `dist`, by its name
 */
export async function buildWithGateway(root: string, entryPoints: Record<string, string>): Promise<void> {
  await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: root });
  await build({
    absWorkingDir: root,
    entryPoints,
    outdir: 'dist',
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    logLevel: 'warning',
  });
}
