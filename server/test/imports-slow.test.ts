/** Proves that slow sources of some organizations do not delay others' imports. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { atEnd } from './database.ts';
import { sampleBytes } from './media.ts';
import { createOrganization, query } from './seed.ts';
import { eventually, startService } from './service.ts';

const clip = await sampleBytes('faststart.mp4');
let slowReaders = 0;

/** `/slow/…` sends 2.5 kB per second, everything else is sent immediately. */
const source = createServer((request, response) => {
  response.on('error', () => undefined);
  response.writeHead(200, { 'content-length': clip.length });
  if (request.url?.startsWith('/slow') !== true) return void response.end(clip);
  slowReaders += 1;
  let sent = 0;
  const timer = setInterval(() => {
    response.write(clip.subarray(sent, sent + 250));
    sent += 250;
  }, 100);
  response.once('close', () => {
    slowReaders -= 1;
    clearInterval(timer);
  });
}).listen(0, '127.0.0.1');
await once(source, 'listening');
atEnd(async () => {
  source.closeAllConnections();
  source.close();
});
const host = `127.0.0.1:${(source.address() as AddressInfo).port}`;

// Without processing: an import is complete when its bytes have arrived.
const env = {
  REELFEED_ROLES: 'api,worker',
  REELFEED_EGRESS_ALLOW: host,
  REELFEED_IMPORT_CONCURRENCY: '16',
  REELFEED_IMPORT_DEADLINE: '12s',
};
const service = await startService(env);

async function importUrls(key: string, kind: 'slow' | 'fast', count: number): Promise<string[]> {
  const items = Array.from({ length: count }, (_, index) => ({
    title: `${kind} ${index}`,
    sourceUrl: `http://${host}/${kind}/${index}`,
  }));
  const { status, body, text } = await service.call('POST', '/v1/content/import', {
    key,
    body: { items },
  });
  assert.equal(status, 201, text);
  return body.data.results.map(({ item }: { item: { id: string } }) => item.id);
}

/** Time that a fast import of a new organization takes until its bytes arrive. */
async function fastImport(name: string): Promise<number> {
  const { secretKey } = await createOrganization(service, name);
  const startedAt = performance.now();
  const [id = ''] = await importUrls(secretKey, 'fast', 1);
  await eventually('the fast import', async () => {
    const rows = await query(
      service,
      'select from content where content_id = $1 and source_key is not null',
      [id],
    );
    return rows.length === 1 ? true : null;
  });
  return performance.now() - startedAt;
}

const withinMs = 5_000;

test('slow sources of two organizations leave capacity for others, in every process', async () => {
  const ids = await importUrls(service.secretKey, 'slow', 100);
  await eventually('a share of the places to be taken', async () =>
    slowReaders >= 4 ? true : null,
  );
  assert.ok((await fastImport('Second')) < withinMs);
  assert.equal(slowReaders, 4, 'one organization gets a share of the places');

  const third = await createOrganization(service, 'Third');
  await importUrls(third.secretKey, 'slow', 100);
  await eventually('the other to get some', async () => (slowReaders >= 5 ? true : null));
  assert.ok((await fastImport('Fourth')) < withinMs);

  await using _beside = await startService(env, { beside: service });
  await eventually('the other process to join', async () => (slowReaders >= 10 ? true : null));
  assert.ok((await fastImport('Fifth')) < withinMs);

  // A source too slow for the deadline is not retried, which frees its place.
  const failed = await eventually('slow sources to be given up', async () => {
    const rows = await query(
      service,
      `select error_code, error_message from content where upload_status = 'error' and content_id = any($1)`,
      [ids],
    );
    return rows.length >= 4 ? rows : null;
  });
  assert.match(JSON.stringify(failed[0]), /SOURCE_UNREACHABLE.*in time/);
  const [{ count } = { count: 0 }] = (await query(
    service,
    'select count(*)::int as count from content where content_id = any($1)',
    [ids],
  )) as { count: number }[];
  assert.equal(count, 100);
});
