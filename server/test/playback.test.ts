/** Tests who can access media and how: ranges, tokens, private and archived items. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createMediaAccess } from '../src/features/playback/media-urls.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { loadSigner } from '../src/platform/secrets/signing-keys.ts';
import { silentLog } from './database.ts';
import { fetchAll, local, readyItem } from './media.ts';
import { sendRaw } from './raw-http.ts';
import { createItem, createOrganization, query } from './seed.ts';
import { eventually, send, startService } from './service.ts';
import { storedFiles } from './stored-files.ts';

const service = await startService();
// oxlint-disable-next-line typescript/no-explicit-any -- items as the API shows them
const items: Record<'open' | 'guarded' | 'other' | 'unlisted' | 'hidden', any> = {
  open: null,
  guarded: null,
  other: null,
  unlisted: null,
  hidden: null,
};

before(async () => {
  const fields: Record<keyof typeof items, object> = {
    open: {},
    guarded: { protected: true },
    other: { protected: true },
    unlisted: { visibility: 'unlisted' },
    hidden: { visibility: 'private' },
  };
  for (const [name, one] of Object.entries(fields)) {
    items[name as keyof typeof items] = await readyItem(service, 'small.mp4', {
      title: name,
      ...one,
    });
  }
});

const at = (url: string) => local(service, url);
const patch = (id: string, body: object) => service.call('PATCH', `/v1/content/${id}`, { body });
const sign = (id: string, key = service.publishableKey) =>
  service.call('POST', `/v1/content/${id}/playback-token`, { key });

/** The paths of an item's files after `/media/`, from the database. */
async function prefixOf(id: string): Promise<string> {
  const [row] = await query(service, 'select media_prefix from content where content_id = $1', [
    id,
  ]);
  return String(row?.['media_prefix']);
}

async function segmentUrl(masterUrl: string): Promise<string> {
  const files = await fetchAll(service, masterUrl);
  return at(files.find(({ url }) => url.endsWith('.m4s'))?.url ?? '');
}

test('a single range is served exactly, others as a whole or not at all', async () => {
  const url = await segmentUrl(items.open.streamingUrl);
  const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
  const size = whole.length;
  const get = async (range: string) => {
    const answer = await fetch(url, { headers: { range } });
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const served: [string, number, number][] = [
    ['bytes=0-', 0, size],
    ['bytes=0-0', 0, 1],
    ['bytes=10-19', 10, 20],
    ['bytes=-1', size - 1, size],
    [`bytes=-${size + 10}`, 0, size],
    [`bytes=${size - 1}-`, size - 1, size],
    [`bytes=5-${size + 1_000}`, 5, size],
  ];
  for (const [range, from, to] of served) {
    const { answer, bytes } = await get(range);
    assert.equal(answer.status, 206, range);
    assert.equal(answer.headers.get('content-range'), `bytes ${from}-${to - 1}/${size}`, range);
    assert.equal(answer.headers.get('content-length'), String(to - from), range);
    assert.ok(bytes.equals(whole.subarray(from, to)), range);
  }
  for (const range of [`bytes=${size}-`, 'bytes=99999999-', 'bytes=-0']) {
    const { answer } = await get(range);
    assert.equal(answer.status, 416, range);
    assert.equal(answer.headers.get('content-range'), `bytes */${size}`, range);
  }
  const many = Array.from({ length: 100 }, (_, index) => `${index}-${index}`).join();
  for (const range of [
    'bytes=5-1',
    'bytes=-',
    'bytes=a-b',
    'items=0-1',
    'bytes',
    `bytes=${many}`,
  ]) {
    const { answer, bytes } = await get(range);
    assert.equal(answer.status, 200, range);
    assert.ok(bytes.equals(whole));
  }
  const huge = await get('bytes=99999999999999999999999-');
  assert.ok([200, 416].includes(huge.answer.status));
});

test('HEAD has the length and no body; a known ETag is 304', async () => {
  const files = await fetchAll(service, items.open.streamingUrl);
  const thumbnail = await fetch(at(items.open.thumbnailUrl));
  const urls = [...files.map(({ url }) => at(url)), at(items.open.thumbnailUrl)];
  assert.equal(thumbnail.status, 200);
  for (const url of urls) {
    const got = await fetch(url);
    const bytes = (await got.arrayBuffer()).byteLength;
    const head = await fetch(url, { method: 'HEAD' });
    assert.equal(head.status, 200, url);
    assert.equal(head.headers.get('content-length'), String(bytes), url);
    assert.equal(head.headers.get('accept-ranges'), 'bytes');
    assert.equal((await head.arrayBuffer()).byteLength, 0);
    const etag = got.headers.get('etag') ?? '';
    assert.match(etag, /^"[^"]+"$/);
    const unchanged = await fetch(url, { headers: { 'if-none-match': etag } });
    assert.equal(unchanged.status, 304, url);
    assert.match(
      got.headers.get('cache-control') ?? '',
      url.endsWith('master.m3u8') ? /max-age=\d\b/ : /immutable/,
    );
  }
});

test('media handles conditions and conditional ranges by the standard', async () => {
  const [segment = assert.fail()] = (await fetchAll(service, items.open.streamingUrl))
    .map(({ url }) => at(url))
    .filter((url) => !url.endsWith('.m3u8'));
  const first = await fetch(segment);
  const whole = Buffer.from(await first.arrayBuffer());
  const tag = first.headers.get('etag') ?? '';
  const modified = first.headers.get('last-modified') ?? '';
  const ask = async (headers: Record<string, string>) => {
    const answer = await fetch(segment, { headers });
    return [answer.status, (await answer.arrayBuffer()).byteLength];
  };
  const earlier = new Date(Date.parse(modified) - 1_000).toUTCString();
  const all = [200, whole.length];
  for (const list of [`"x", ${tag}`, `W/${tag}`, '*']) {
    assert.deepEqual(await ask({ 'if-none-match': list }), [304, 0], list);
  }
  assert.deepEqual(await ask({ 'if-none-match': '"x"', 'if-modified-since': modified }), all);
  assert.deepEqual(await ask({ 'if-modified-since': modified }), [304, 0]);
  assert.deepEqual(await ask({ 'if-modified-since': earlier }), all);
  const range = 'bytes=0-9';
  for (const current of [tag, modified]) {
    assert.deepEqual(await ask({ range, 'if-range': current }), [206, 10], current);
  }
  for (const other of ['"x"', `W/${tag}`, earlier, 'yesterday']) {
    assert.deepEqual(await ask({ range, 'if-range': other }), all, other);
  }
});

test('a page of any origin may read media, with ranges', async () => {
  const url = at(items.open.streamingUrl);
  const preflight = await send(url, 'OPTIONS', {
    headers: { origin: 'https://a.example', 'access-control-request-headers': 'range' },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /Range/i);
});

test('nothing of a protected item is reachable without its own living token', async () => {
  const { id } = items.guarded;
  assert.equal(items.guarded.streamingUrl, '');
  assert.equal(items.guarded.thumbnailUrl, null);
  const signed = (await sign(id)).body.data;
  const foreign = (await sign(items.other.id)).body.data;
  assert.ok(signed.expiresIn > 3_600 && signed.expiresIn <= 6 * 3_600);
  const files = await fetchAll(service, signed.streamingUrl);
  assert.ok(files.length >= 4, 'the token leads to playlists and segments');
  const urls = [...files.map(({ url }) => url), signed.thumbnailUrl];
  const token = new URL(signed.streamingUrl).pathname.split('/')[3] ?? '';
  const foreignToken = new URL(foreign.streamingUrl).pathname.split('/')[3] ?? '';
  const bytes = Buffer.from(token, 'base64url');
  const later = Buffer.from(bytes);
  later.writeUIntBE(later.readUIntBE(0, 6) + 3_600_000, 0, 6);
  const tampered = Buffer.from(bytes);
  tampered.writeUInt8(tampered.readUInt8(10) ^ 1, 10);
  const wrong = [
    foreignToken,
    later.toString('base64url'),
    tampered.toString('base64url'),
    token.slice(0, -2),
    `${token}AA`,
    'x',
    'a'.repeat(400),
  ];
  for (const url of urls) {
    assert.equal((await fetch(at(url))).status, 200, url);
    const bare = at(url).replace(`/t/${token}`, '');
    for (const method of ['GET', 'HEAD']) {
      assert.equal((await fetch(bare, { method })).status, 403, `${method} ${bare}`);
    }
    for (const other of wrong) {
      const answer = await fetch(at(url).replace(token, other));
      const text = await answer.text();
      assert.equal(answer.status, 403, `${other}: ${url}`);
      assert.ok(!text.includes('EXT'), 'no bytes of the playlist');
    }
    assert.match((await fetch(at(url))).headers.get('cache-control') ?? '', /private/);
  }
  assert.ok(!(await prefixOf(id)).includes(id), 'paths say nothing of the id');
});

test('an expired token opens nothing', async () => {
  const signed = (await sign(items.guarded.id)).body.data;
  await using database = openDatabase({
    connection: service.connection,
    poolSize: 2,
    log: silentLog,
  });
  const access = createMediaAccess(service.url, await loadSigner(database.db, 'urls-and-cursors'));
  const [playbackId = ''] = (await prefixOf(items.guarded.id)).split('/');
  const token = new URL(signed.streamingUrl).pathname.split('/')[3] ?? '';
  const expiresAt = Date.parse(signed.expiresAt);
  assert.equal(access.accepts(token, playbackId, expiresAt - 1), true);
  assert.equal(access.accepts(token, playbackId, expiresAt), false);
  assert.equal(access.accepts(token, playbackId, expiresAt + 86_400_000), false);
});

test('tokens are issued for protected, ready items that the caller may see', async () => {
  const refusals: [string, string, number, string][] = [
    [items.open.id, service.publishableKey, 409, 'NOT_PROTECTED'],
    [items.unlisted.id, service.secretKey, 409, 'NOT_PROTECTED'],
    [items.hidden.id, service.publishableKey, 404, 'NOT_FOUND'],
  ];
  const pending = await createItem(service, { protected: true });
  refusals.push([pending.id, service.secretKey, 409, 'CONTENT_NOT_READY']);
  refusals.push([pending.id, service.publishableKey, 404, 'NOT_FOUND']);
  for (const [id, key, status, code] of refusals) {
    const reply = await sign(id, key);
    assert.equal(reply.status, status, reply.text);
    assert.equal(reply.body.error.code, code);
  }
  const { id } = items.other;
  const hides: [object, object][] = [
    [{ publishStatus: 'unpublished' }, { publishStatus: 'published' }],
    [{ publishAt: '2099-01-01T00:00:00Z' }, { publishAt: null }],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, { expiresAt: null }],
    [{ visibility: 'private' }, { visibility: 'public' }],
  ];
  for (const [hide, show] of hides) {
    assert.equal((await patch(id, hide)).status, 200);
    assert.equal((await sign(id)).status, 404, JSON.stringify(hide));
    assert.equal((await sign(id, service.secretKey)).status, 200);
    assert.equal((await patch(id, show)).status, 200);
    assert.equal((await sign(id)).status, 200);
  }
  const stranger = await createOrganization(service, 'Stranger');
  for (const key of [stranger.secretKey, stranger.publishableKey]) {
    assert.equal((await sign(id, key)).status, 404);
  }
});

test('unlisted items play by their URL, private ones by a signed URL for secret keys only', async () => {
  assert.equal((await fetch(at(items.unlisted.streamingUrl))).status, 200);
  const { hidden } = items;
  assert.match(hidden.streamingUrl, /\/media\/t\//);
  for (const { url, reply } of await fetchAll(service, hidden.streamingUrl)) {
    assert.equal(reply.status, 200, url);
  }
  const prefix = await prefixOf(hidden.id);
  assert.equal((await fetch(`${service.url}/media/${prefix}/master.m3u8`)).status, 403);
});

test('an item that becomes protected or is archived stops playing', async () => {
  const item = await readyItem(service, 'small.mp4');
  const url = at(item.streamingUrl);
  const statusBecomes = (status: number) =>
    eventually(`status ${status}`, async () =>
      (await fetch(url)).status === status ? true : null,
    );
  assert.equal((await fetch(url)).status, 200);
  await patch(item.id, { protected: true });
  await statusBecomes(403);
  await patch(item.id, { protected: false });
  await statusBecomes(200);
  await service.call('DELETE', `/v1/content/${item.id}`);
  await statusBecomes(404);
  await service.call('POST', `/v1/content/${item.id}/restore`);
  await statusBecomes(200);
});

test('no path leads out of the media files, and nothing but media is served', async () => {
  const prefix = await prefixOf(items.open.id);
  const token = new URL((await sign(items.guarded.id)).body.data.streamingUrl).pathname.split(
    '/',
  )[3];
  const paths = [
    `/media/${prefix}/../../../../etc/passwd`,
    `/media/${prefix}/%2e%2e/%2e%2e/master.m3u8`,
    `/media/${prefix}/..%2f..%2fmaster.m3u8`,
    `/media/${prefix}/%2e%2e%2f%2e%2e%2f%2e%2e%2fencryption.key`,
    `/media/${prefix}/master.m3u8%00.jpg`,
    `/media/${prefix}//master.m3u8`,
    `/media/${prefix}/MASTER.m3u8`,
    `/media/${prefix}/`,
    `/media/${prefix}`,
    `/media/${prefix.split('/')[0]}/master.m3u8`,
    `/media/${'a'.repeat(22)}/a/master.m3u8`,
    '/media/x/y',
    `/media/${'a'.repeat(600)}/x.mp4`,
    `/media/${prefix}/${'a/'.repeat(150)}x.mp4`,
    `/media/t/${token}/${prefix}/../../../../../etc/passwd`,
    '/media/',
    '/media',
  ];
  for (const path of paths) {
    const { statuses, text } = await sendRaw(service.url, [
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    ]);
    assert.ok([400, 403, 404].includes(statuses[0] ?? 0), `${path}: ${statuses.join()}`);
    assert.doesNotMatch(text, /root:|EXTM3U/, path);
  }
});

test('the files of an archived item are removed once it can no longer be restored', async () => {
  const [item, young] = [
    await readyItem(service, 'small.mp4'),
    await readyItem(service, 'small.mp4'),
  ];
  const folders = [await prefixOf(item.id), await prefixOf(young.id)];
  for (const { id } of [item, young]) await service.call('DELETE', `/v1/content/${id}`);
  await query(
    service,
    `update content set archived_at = now() - interval '31 days' where content_id = $1`,
    [item.id],
  );
  const folderCount = async (folder = '') =>
    (await storedFiles(service, 'objects')).filter((file) => file.includes(folder)).length;
  assert.ok((await folderCount(folders[0])) > 0);
  await using _worker = await startService({ REELFEED_ROLES: 'worker' }, { beside: service });
  await eventually('the files to go', async () =>
    (await folderCount(folders[0])) === 0 ? true : null,
  );
  assert.ok((await folderCount(folders[1])) > 0, 'one that can be restored keeps them');
});
