import { join } from 'node:path';
import { build } from 'esbuild';

/** In one file each, as the executable has its sources: else their imports would be measured. */
export async function bundleScripts(scratch: string, ...scripts: readonly string[]): Promise<void> {
  await build({
    entryPoints: scripts.map((script) => join(import.meta.dirname, `${script}.ts`)),
    outdir: scratch,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    logLevel: 'warning',
  });
}
