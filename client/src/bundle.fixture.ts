import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Bundles the library for browsers. */
export async function bundleClient(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('client.ts', import.meta.url))],
    bundle: true,
    format: 'esm',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}
