/** Uploads of real clips for tests, and downloads like a player's. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { mediaSample, type ClipName, type HostileName } from './media-samples.ts';
import { createItem } from './seed.ts';
import { eventually, send, type Reply, type TestService } from './service.ts';

export async function sampleBytes(name: ClipName | HostileName): Promise<Buffer> {
  return readFile(await mediaSample(name));
}

/** Creates an item and sends the sample to its upload URL. Returns the response to the PUT. */
export async function putSample(
  service: TestService,
  name: ClipName | HostileName,
  fields: object = {},
): Promise<Reply> {
  const { uploadUrl } = await createItem(service, { title: name, ...fields });
  return send(local(service, uploadUrl), 'PUT', { body: await sampleBytes(name) });
}

/** URLs in responses use `localhost`, which may resolve to another address than the server's. */
export function local(service: TestService, url: string): string {
  const { pathname, search } = new URL(url);
  return service.url + pathname + search;
}

/** Uploads a sample and waits until it is ready with all its renditions. Returns the item. */
export async function readyItem(service: TestService, name: ClipName, fields: object = {}) {
  const { status, body, text } = await putSample(service, name, fields);
  assert.equal(status, 200, text);
  return settledItem(service, body.data.id, 'ready');
}

/** Waits until an item is ready or failed, and asserts its `status`. */
export async function settledItem(
  service: TestService,
  id: string,
  status: 'ready' | 'error',
  timeoutMs = 120_000,
) {
  const item = await eventually(
    `item ${id} to settle`,
    async () => {
      const { body } = await service.call('GET', `/v1/content/${id}`);
      return ['ready', 'error'].includes(body.data.uploadStatus) ? body.data : null;
    },
    timeoutMs,
  );
  assert.equal(item.uploadStatus, status, JSON.stringify(item.errorReason));
  return item;
}

/** A multipart form; a `file` is given as bytes. */
export function form(fields: readonly (readonly [name: string, value: string | Buffer])[]) {
  const data = new FormData();
  for (const [name, value] of fields) {
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, new Blob([new Uint8Array(value)]), 'clip.mp4');
  }
  return data;
}

export type FetchedFile = { url: string; reply: Reply; bytes: number };

/** Fetches a master playlist and every file that it leads to, like a player. */
export async function fetchAll(service: TestService, masterUrl: string): Promise<FetchedFile[]> {
  const files: FetchedFile[] = [];
  const waiting = [masterUrl];
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    const answer = await fetch(local(service, url));
    const buffer = Buffer.from(await answer.arrayBuffer());
    const text = buffer.toString('latin1');
    const reply: Reply = { status: answer.status, headers: answer.headers, body: undefined, text };
    files.push({ url, reply, bytes: buffer.length });
    if (!url.endsWith('.m3u8') || answer.status !== 200) continue;
    for (const line of text.split('\n')) {
      const named = /URI="([^"]+)"/.exec(line)?.[1] ?? (line.startsWith('#') ? '' : line.trim());
      const found = named === '' ? '' : new URL(named, url).href;
      if (found !== '' && !files.some((file) => file.url === found) && !waiting.includes(found)) {
        waiting.push(found);
      }
    }
  }
  return files;
}
