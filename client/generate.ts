/**
 * `npm run docs`, second half: writes `docs/openapi.json` from the running service's description,
 * and the client's types from it. Both are committed, so that an API change is visible in its
 * review.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { readConfig } from '../server/src/app/config.ts';
import { startService } from '../server/src/app/service.ts';

export const descriptionFile = new URL('../docs/openapi.json', import.meta.url);
export const typesFile = new URL('./src/api.generated.ts', import.meta.url);

/** A service's response, which contains the address of the request. */
export type Description = { readonly externalDocs: { readonly url: string } };

/** The description as committed: with a service's default address. */
export function descriptionText(answer: Description): string {
  const text = `${JSON.stringify(answer, null, 1)}\n`;
  const address = answer.externalDocs.url.replace(/\/docs\/errors$/, '');
  return text.replaceAll(address, 'http://localhost:4000');
}

/** TypeScript types for a description in a file. */
export async function typesOf(file: URL): Promise<string> {
  const program = fileURLToPath(
    new URL('../bin/cli.js', import.meta.resolve('openapi-typescript')),
  );
  const folder = await mkdtemp(path.join(tmpdir(), 'reelfeed-types-'));
  try {
    const output = path.join(folder, 'api.ts');
    const options = ['--output', output, '--alphabetize'];
    await promisify(execFile)(process.execPath, [program, fileURLToPath(file), ...options]);
    return await readFile(output, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Queries a service on a temporary database. */
async function describeService(): Promise<Description> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'reelfeed-describe-'));
  try {
    const config = readConfig({ REELFEED_DATA_DIR: dataDir, PORT: '0', REELFEED_ROLES: 'api' });
    const log = pino({ level: 'error' });
    await using service = await startService(config, { log, signal: new AbortController().signal });
    const response = await fetch(`${service.publicUrl}/openapi.json`);
    if (!response.ok) throw new Error(`The description could not be read: ${response.status}.`);
    return (await response.json()) as Description;
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  await writeFile(descriptionFile, descriptionText(await describeService()));
  await writeFile(typesFile, await typesOf(descriptionFile));
}
