/** Proves docs/experiments.sh: an experiment from hypothesis to rollout, as a reader runs it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startService } from './service.ts';

const script = fileURLToPath(new URL('../../docs/experiments.sh', import.meta.url));
const service = await startService();

test('docs/experiments.sh runs to its end against a fresh service', async () => {
  const { stdout } = await promisify(execFile)('sh', [script], {
    env: {
      PATH: process.env['PATH'],
      URL: service.url,
      SECRET_KEY: service.secretKey,
      PUBLISHABLE_KEY: service.publishableKey,
    },
    timeout: 120_000,
  });
  assert.match(stdout, /The next idea starts as a copy\n$/);
});
