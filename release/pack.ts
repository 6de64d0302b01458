/**
 * `npm run release -- <folder>`: writes the files of a release: the package, its bill of materials
 * (CycloneDX) and the checksums of both. If `REELFEED_RELEASE_KEY` names a private key (Ed25519,
 * PEM), it also writes a signature of the checksums.
 */
import { execFile } from 'node:child_process';
import { createHash, createPrivateKey, sign } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { emptyFolder } from './javascript.ts';
import { root, writePackage } from './package.ts';

const run = promisify(execFile);
const maxBuffer = 64 * 2 ** 20;

export async function pack(
  folder: string,
  { version, keyFile }: { version?: string; keyFile?: string } = {},
): Promise<{ tarball: string; version: string }> {
  await emptyFolder(folder);
  const staging = path.join(folder, 'package');
  const packed = await writePackage(staging, version);
  const options = { cwd: staging, maxBuffer };
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], options);
  await rm(staging, { recursive: true });
  const tarball = `reelfeed-${packed}.tgz`;
  const bill = `reelfeed-${packed}.cdx.json`;
  const args = ['sbom', '--omit=dev', '--sbom-format=cyclonedx', '--workspace=@reelfeed/server'];
  const { stdout } = await run('npm', args, { cwd: root, maxBuffer });
  await writeFile(path.join(folder, bill), stdout);
  const lines = await Promise.all(
    [tarball, bill].map(async (name) => {
      const bytes = await readFile(path.join(folder, name));
      return `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`;
    }),
  );
  const sums = Buffer.from(lines.join(''));
  await writeFile(path.join(folder, 'SHA256SUMS'), sums);
  if (keyFile !== undefined) {
    const signature = sign(null, sums, createPrivateKey(await readFile(keyFile)));
    await writeFile(path.join(folder, 'SHA256SUMS.sig'), signature);
  }
  return { tarball: path.join(folder, tarball), version: packed };
}

if (import.meta.main) {
  const [folder = 'release/out'] = process.argv.slice(2);
  const keyFile = process.env['REELFEED_RELEASE_KEY'];
  const { tarball } = await pack(path.resolve(folder), keyFile === undefined ? {} : { keyFile });
  process.stdout.write(`${tarball}\n`);
}
