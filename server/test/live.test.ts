/** Live streams, from the encoder's connection to the recording. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { sampleEvent } from './event-samples.ts';
import { local } from './media.ts';
import { createStream, freePort, publish, type Stream } from './live-publisher.ts';
import { createOrganization } from './seed.ts';
import { eventually, startService } from './service.ts';
import { pause } from './waiting.ts';

const port = await freePort();
const service = await startService({ REELFEED_RTMP_PORT: String(port) });

async function read(stream: Stream) {
  const { body } = await service.call('GET', `/v1/live-streams/${stream.id}`);
  return body.data;
}

const becomes = (stream: Stream, status: string) =>
  eventually(`the stream to be ${status}`, async () => {
    const found = await read(stream);
    return found.status === status ? found : null;
  });

/** The item once its recording has been processed. */
const recorded = (stream: Stream) =>
  eventually('the recording', async () => {
    const { body } = await service.call('GET', `/v1/content/${stream.contentId}`);
    assert.notEqual(body.data.uploadStatus, 'error', JSON.stringify(body.data.errorReason));
    return body.data.uploadStatus === 'ready' && body.data.duration !== null ? body.data : null;
  });

async function feedItem(contentId: string) {
  const { body } = await service.call('GET', '/v1/feed?limit=50&deviceId=phone-1');
  return body.data.find(({ id }: { id: string }) => id === contentId) ?? null;
}

const at = (url: string) => local(service, url);

async function text(url: string): Promise<string> {
  const answer = await fetch(at(url));
  assert.equal(answer.status, 200, url);
  return answer.text();
}

/** The media playlist of a master playlist. */
const mediaUrl = (streamingUrl: string) => new URL('index.m3u8', streamingUrl).href;

test('the lifecycle of a stream', async () => {
  const stream = await createStream(service, { tags: ['live'], reconnectWindow: 1 });
  assert.equal((await read(stream)).status, 'idle');
  assert.equal(await feedItem(stream.contentId), null);
  const publishing = await publish(port, stream.streamKey);
  assert.ok((await becomes(stream, 'active')).startedAt);
  const shown = await eventually('the item in the feed', () => feedItem(stream.contentId));
  assert.equal(shown.isLive, true);
  assert.equal(shown.liveStreamId, stream.id);
  assert.equal(shown.liveStreamStatus, 'active');
  assert.equal(shown.contentType, 'live_stream');
  const master = await text(shown.streamingUrl);
  assert.match(master, /CODECS="avc1\.[0-9a-f]{6},mp4a\.40\.2",RESOLUTION=180x320/);
  const playlist = await eventually('three segments', async () => {
    const found = await text(mediaUrl(shown.streamingUrl));
    return found.split('#EXTINF').length > 3 ? found : null;
  });
  assert.match(playlist, /#EXT-X-PROGRAM-DATE-TIME:\d{4}-/);
  assert.doesNotMatch(playlist, /ENDLIST|DISCONTINUITY\n/);
  await publishing.end();
  assert.ok((await becomes(stream, 'ended')).endedAt);
  const item = await recorded(stream);
  const { recordedSeconds } = await read(stream);
  assert.ok(Math.abs(item.duration - recordedSeconds) < 0.3, `${item.duration} ${recordedSeconds}`);
  const after = await eventually('the recording in the feed', () => feedItem(stream.contentId));
  assert.equal(after.isLive, false);
  assert.equal(after.liveStreamStatus, 'ended');
  assert.match(await text(item.streamingUrl), /RESOLUTION=/);
  // The address given to viewers redirects to the recording.
  const moved = await fetch(at(shown.streamingUrl));
  assert.equal(moved.url, at(item.streamingUrl));
});

test('a dropped publisher reconnects within the window, and the recording has both parts', async () => {
  const stream = await createStream(service, { reconnectWindow: 60 });
  const first = await publish(port, stream.streamKey);
  const shown = await eventually('the item in the feed', () => feedItem(stream.contentId));
  first.cut();
  await eventually('the drop to be seen', async () =>
    (await read(stream)).isConnected ? null : true,
  );
  const between = await read(stream);
  assert.equal(between.status, 'active');
  assert.equal((await feedItem(stream.contentId)).isLive, true);
  const second = await publish(port, stream.streamKey);
  await eventually('a discontinuity', async () =>
    /#EXT-X-DISCONTINUITY\n/.test(await text(mediaUrl(shown.streamingUrl))) ? true : null,
  );
  const { status, body } = await service.call('POST', `/v1/live-streams/${stream.id}/end`);
  assert.equal(status, 200);
  assert.equal(body.data.status, 'ended');
  await second.publisher.closed;
  // The last segment is stored after the response.
  const item = await recorded(stream);
  const { recordedSeconds } = await read(stream);
  assert.ok(recordedSeconds > between.recordedSeconds);
  assert.ok(Math.abs(item.duration - recordedSeconds) < 0.3, `${item.duration} ${recordedSeconds}`);
  await assert.rejects(publish(port, stream.streamKey), /ended/);
});

test('a newcomer with the right key takes over immediately, without losing what was sent', async () => {
  const stream = await createStream(service, { reconnectWindow: 60 });
  const first = await publish(port, stream.streamKey);
  const shown = await eventually('the item in the feed', () => feedItem(stream.contentId));
  const takenAt = performance.now();
  const second = await publish(port, stream.streamKey);
  await first.publisher.closed;
  assert.ok(performance.now() - takenAt < 2_000);
  const between = await read(stream);
  assert.deepEqual([between.status, between.isConnected], ['active', true]);
  await eventually('a discontinuity', async () =>
    /#EXT-X-DISCONTINUITY\n/.test(await text(mediaUrl(shown.streamingUrl))) ? true : null,
  );
  // Only one of several encoders that connect with one key at the same time remains.
  const many = await Promise.all([1, 2, 3].map(() => publish(port, stream.streamKey)));
  await second.publisher.closed;
  const open = await eventually('one to be left', async () => {
    const left = many.filter(({ publisher }) => publisher.isOpen);
    return left.length === 1 ? left : null;
  });
  assert.equal((await read(stream)).isConnected, true);
  await open[0]?.end();
  await service.call('POST', `/v1/live-streams/${stream.id}/end`);
  const item = await recorded(stream);
  const { recordedSeconds } = await read(stream);
  assert.ok(Math.abs(item.duration - recordedSeconds) < 0.5, `${item.duration} ${recordedSeconds}`);
});

test('wrong keys and garbage are disconnected immediately, and do no harm', async () => {
  const stream = await createStream(service);
  const publishing = await publish(port, stream.streamKey);
  await becomes(stream, 'active');
  const startedAt = performance.now();
  const wrong = `${stream.streamKey.slice(0, -1)}${stream.streamKey.endsWith('A') ? 'B' : 'A'}`;
  await assert.rejects(publish(port, wrong), /No stream has this key/);
  await assert.rejects(publish(port, 'x'.repeat(5_000)), /No stream has this key/);
  assert.ok(performance.now() - startedAt < 3_000);
  for (const garbage of [
    'GET / HTTP/1.1\r\n\r\n',
    Buffer.concat([Buffer.of(3), Buffer.alloc(3_072), Buffer.alloc(64, 0xff)]),
    Buffer.concat([Buffer.of(3), Buffer.alloc(3_072), hugeMessage]),
  ]) {
    await closedAfter(garbage);
  }
  assert.equal((await read(stream)).isConnected, true);
  await publishing.end();
  await becomes(stream, 'ended');
});

/** The header of a message that claims to be 16 MB. */
const hugeMessage = Buffer.from('03000000ffffff1400000000', 'hex');

/** Sends bytes and resolves when the service closes the connection. */
async function closedAfter(bytes: Buffer | string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.resume();
  socket.write(bytes);
  await Promise.race([
    once(socket, 'close'),
    pause(5_000, 'the service closes it').then(() => assert.fail('the connection is still open')),
  ]);
}

test('a protected stream plays only with a token', async () => {
  const stream = await createStream(service, { protected: true });
  const publishing = await publish(port, stream.streamKey);
  const shown = await eventually('the item in the feed', () => feedItem(stream.contentId));
  assert.equal(shown.streamingUrl, '');
  const path = `/v1/content/${stream.contentId}/playback-token`;
  const signed = await service.call('POST', path, { key: service.publishableKey });
  const { streamingUrl } = signed.body.data;
  const playlist = await text(mediaUrl(streamingUrl));
  const segment = /^[\w-]+\.m4s$/m.exec(playlist)?.[0] ?? assert.fail(playlist);
  assert.equal((await fetch(at(new URL(segment, streamingUrl).href))).status, 200);
  const open = at(streamingUrl).replace(/\/t\/[^/]+/, '');
  assert.equal((await fetch(open)).status, 403);
  const live = await fetch(at(mediaUrl(streamingUrl)));
  assert.equal(live.headers.get('cache-control'), 'private, max-age=1');
  await publishing.end();
});

test('a stream deleted while live is disconnected and gone', async () => {
  const stream = await createStream(service);
  const publishing = await publish(port, stream.streamKey);
  const shown = await eventually('the item in the feed', () => feedItem(stream.contentId));
  const path = `/v1/live-streams/${stream.id}`;
  assert.equal((await service.call('DELETE', path)).status, 200);
  await publishing.publisher.closed;
  assert.equal((await service.call('GET', path)).status, 404);
  assert.equal((await service.call('DELETE', path)).status, 404);
  assert.equal((await fetch(at(shown.streamingUrl))).status, 404);
  await assert.rejects(publish(port, stream.streamKey), /has ended/);
  const restored = await service.call('POST', `/v1/content/${stream.contentId}/restore`);
  assert.equal(restored.status, 200);
});

test('a new key disconnects users of the old one', async () => {
  const stream = await createStream(service, { reconnectWindow: 60 });
  const publishing = await publish(port, stream.streamKey);
  await becomes(stream, 'active');
  const path = `/v1/live-streams/${stream.id}/reset-key`;
  const { streamKey } = (await service.call('POST', path)).body.data;
  await publishing.publisher.closed;
  await assert.rejects(publish(port, stream.streamKey), /No stream has this key/);
  const again = await publish(port, streamKey);
  assert.equal((await read(stream)).status, 'active');
  await again.end();
  await service.call('DELETE', `/v1/live-streams/${stream.id}`);
});

test('viewers of a stream are counted while they watch', async () => {
  const stream = await createStream(service);
  const publishing = await publish(port, stream.streamKey);
  await eventually('the item in the feed', () => feedItem(stream.contentId));
  const events = ['ada', 'ben', 'ada'].map((userId) =>
    sampleEvent('playStart', stream.contentId, { userId }),
  );
  const sent = await service.call('POST', '/v1/events/batch', {
    key: service.publishableKey,
    body: { events },
  });
  assert.equal(sent.status, 200, sent.text);
  await eventually('two viewers in the feed', async () =>
    (await feedItem(stream.contentId)).currentViewers === 2 ? true : null,
  );
  const key = service.publishableKey;
  const state = await service.call('GET', `/v1/live-streams/${stream.id}/status`, { key });
  assert.equal(state.body.data.currentViewers, 2);
  assert.equal(state.body.data.isLive, true);
  await publishing.end();
});

test('requests that the API rejects', async () => {
  const create = (body: object) => service.call('POST', '/v1/live-streams', { body });
  for (const body of [
    {},
    { title: '' },
    { title: 'A', reconnectWindow: 1801 },
    { title: 'A', x: 1 },
  ]) {
    assert.equal((await create(body)).status, 400, JSON.stringify(body));
  }
  const headers = { 'idempotency-key': 'one-stream' };
  const call = { body: { title: 'Once' }, headers };
  const [one, two] = [
    await service.call('POST', '/v1/live-streams', call),
    await service.call('POST', '/v1/live-streams', call),
  ];
  assert.equal(one.status, 201);
  assert.deepEqual(two.body.data, one.body.data);
  const { id, contentId } = one.body.data;
  const other = await createOrganization(service, 'Other');
  for (const [method, path] of [
    ['GET', id],
    ['GET', `${id}/status`],
    ['POST', `${id}/end`],
    ['POST', `${id}/reset-key`],
    ['DELETE', id],
  ] as const) {
    const url = `/v1/live-streams/${path}`;
    const foreign = await service.call(method, url, { key: other.secretKey });
    assert.equal(foreign.status, 404, url);
    const unknown = await service.call(method, url.replace(id, 'lst_unknown'));
    assert.deepEqual(unknown.body.error, foreign.body.error);
  }
  const ended = await service.call('POST', `/v1/live-streams/${id}/end`);
  assert.equal(ended.body.data.status, 'ended');
  assert.equal((await service.call('POST', `/v1/live-streams/${id}/end`)).status, 200);
  assert.equal((await service.call('POST', `/v1/live-streams/${id}/reset-key`)).status, 409);
  const item = await service.call('GET', `/v1/content/${contentId}`);
  assert.equal(item.body.data.errorReason.code, 'SOURCE_UNREACHABLE');
});
