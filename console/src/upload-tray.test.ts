/** Tests what the tray shows about uploads, and what its buttons do. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { until } from '../../server/test/waiting.ts';
import { buttonsIn, openPage, press, show, textsOf } from '../component.fixture.ts';

/**
 * A service that accepts uploads, and holds back its response to the bytes until it is released.
 */
class HoldingService {
  readonly requests: string[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #held: (() => void)[] = [];
  /** The error code with which bytes are rejected, or null. */
  refusal: string | null = null;

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get held(): number {
    return this.#held.length;
  }

  release(): void {
    for (const proceed of this.#held.splice(0)) proceed();
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request;
    this.requests.push(`${method} ${url}`);
    const sent = Buffer.concat(await request.toArray());
    const reply = (status: number, body?: object, headers = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(body === undefined ? undefined : JSON.stringify(body));
    if (url === '/v1/content/upload') {
      const { title } = JSON.parse(String(sent)) as { title: string };
      reply(201, { data: { id: `item-${title}`, uploadUrl: `https://other/v1/uploads/${title}` } });
    } else if (method === 'HEAD') reply(409);
    else if (method === 'POST') reply(201, undefined, { 'upload-offset': 0 });
    else if (method === 'PATCH') {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#held.push(resolve);
      await promise;
      if (this.refusal === null) reply(204, undefined, { 'upload-offset': sent.length });
      else reply(422, { error: { code: this.refusal, message: 'These bytes are no media.' } });
    } else reply(204);
  }
}

const service = new HoldingService();
after(() => service.close());
const remembered = {
  name: 'old.mp4',
  sizeBytes: 10,
  sentBytes: 4,
  itemId: 'item-old',
  uploadUrl: 'https://other/v1/uploads/old',
};
openPage(`${await service.listen()}/console/`, {
  'reelfeed.console.uploads': JSON.stringify([['old.mp4 10 1', remembered]]),
});
const { createElement } = await import('react');
const { Questions } = await import('./questions.tsx');
const { UploadTray } = await import('./upload-tray.tsx');
const { addFiles } = await import('./uploads.ts');

const file = (name: string) => new File(['0123456789'], name, { lastModified: 1 });
const says = (wanted: readonly string[]) =>
  until(
    `the list to say ${wanted.join('; ')}`,
    () => textsOf('status'),
    (texts) => JSON.stringify(texts) === JSON.stringify(wanted),
    20_000,
  );
const tray = () => buttonsIn()[0];
const traySays = (wanted: string) =>
  until(`the tray to say ${wanted}`, tray, (words) => words === wanted, 20_000);

function rowOf(name: string): ParentNode {
  return document.querySelector(`[aria-label="Upload ${name}"]`) ?? assert.fail(name);
}

test('uploads are listed with their states, and each has the buttons for its state', async () => {
  await show(createElement(UploadTray), createElement(Questions));
  await traySays('1 unfinished');
  await press('1 unfinished');
  await says(['old.mp4: 40 %, unfinished: choose the same file to continue']);
  assert.deepEqual(buttonsIn(rowOf('old.mp4')), ['Choose the file', 'Cancel upload']);

  addFiles([file('new.mp4'), file('next.mp4')]);
  await until(
    'bytes to arrive',
    () => service.held,
    (held) => held === 1,
  );
  await traySays('Uploading 0 %');
  await says([
    'old.mp4: 40 %, unfinished: choose the same file to continue',
    'new.mp4: 0 % of 10 B',
    'next.mp4: waits for its turn',
  ]);
  for (const name of ['new.mp4', 'next.mp4'])
    assert.deepEqual(buttonsIn(rowOf(name)), ['Stop', 'Cancel upload']);

  await press('Stop', rowOf('new.mp4'));
  await until(
    'the next upload',
    () => service.held,
    (held) => held === 2,
  );
  await says([
    'old.mp4: 40 %, unfinished: choose the same file to continue',
    'new.mp4: 0 %, stopped',
    'next.mp4: 0 % of 10 B',
  ]);
  assert.deepEqual(buttonsIn(rowOf('new.mp4')), ['Go on', 'Cancel upload']);
  service.release();
  await traySays('2 unfinished');
  assert.deepEqual(buttonsIn(rowOf('next.mp4')), []);
});

test('a rejection is shown, and finished uploads can be cleared', async () => {
  service.refusal = 'INVALID_MEDIA';
  await press('Go on', rowOf('new.mp4'));
  await until(
    'bytes to arrive',
    () => service.held,
    (held) => held === 1,
  );
  service.release();
  await says([
    'old.mp4: 40 %, unfinished: choose the same file to continue',
    'new.mp4: These bytes are no media.',
    'next.mp4: uploaded',
  ]);
  await press('Clear finished uploads');
  await says([
    'old.mp4: 40 %, unfinished: choose the same file to continue',
    'new.mp4: These bytes are no media.',
  ]);
});

test('an upload is cancelled after confirmation, and its item is archived', async () => {
  const archived = () => service.requests.filter((request) => request.startsWith('DELETE'));
  await press('Cancel upload', rowOf('old.mp4'));
  await press('Cancel');
  assert.equal(textsOf('status').length, 2);
  for (const [name, left] of [
    ['old.mp4', 1],
    ['new.mp4', 0],
  ] as const) {
    await press('Cancel upload', rowOf(name));
    await until(
      'the question',
      () => document.querySelectorAll('form').length,
      (forms) => forms === 1,
    );
    await press('Cancel upload', document.querySelector('form') ?? assert.fail());
    await until(
      'the row to go',
      () => textsOf('status'),
      ({ length }) => length === left,
    );
  }
  await until('both items to be archived', archived, ({ length }) => length === 2);
  assert.deepEqual(archived(), ['DELETE /v1/content/item-old', 'DELETE /v1/content/item-new']);
  assert.deepEqual(buttonsIn(), [], 'there is no tray without uploads');
  assert.equal(localStorage.getItem('reelfeed.console.uploads'), '[]');
});
