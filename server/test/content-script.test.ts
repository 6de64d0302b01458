/**
 * Proves docs/content.sh: the full lifecycle of each content type through curl, as a reader runs
 * it.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { imageBytes } from './carousels.ts';
import { atEnd } from './database.ts';
import { sampleBytes } from './media.ts';
import { mediaSample } from './media-samples.ts';
import { freePort, startService, temporaryFolder } from './service.ts';

const script = fileURLToPath(new URL('../../docs/content.sh', import.meta.url));
const run = promisify(execFile);

test('docs/content.sh runs to its end against a fresh service', async () => {
  const bytes = await sampleBytes('small.mp4');
  const source = createServer((_request, response) => response.end(bytes)).listen(0, '127.0.0.1');
  await once(source, 'listening');
  atEnd(async () => void source.close());
  const { port: sourcePort } = source.address() as AddressInfo;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const service = await startService({
    PORT: String(port),
    REELFEED_PUBLIC_URL: url,
    REELFEED_EGRESS_ALLOW: `127.0.0.1:${sourcePort}`,
  });
  const image = path.join(await temporaryFolder(), 'image.png');
  await writeFile(image, await imageBytes());
  const { stdout } = await run('sh', [script], {
    env: {
      PATH: process.env['PATH'],
      URL: url,
      SECRET_KEY: service.secretKey,
      PUBLISHABLE_KEY: service.publishableKey,
      VIDEO: await mediaSample('small.mp4'),
      IMAGE: image,
      SOURCE_URL: `http://127.0.0.1:${sourcePort}/clip.mp4`,
    },
  });
  assert.match(stdout, /Done\.\n$/);
});
