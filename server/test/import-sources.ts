/** An HTTPS server with videos to import, and a different fault at each path. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createTestCertificate } from '../src/platform/egress/test-certificate.ts';
import { receiverCertificate } from './receiver.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** An import that must fail, with the expected message. */
export type Fault = { name: string; url: string; code: string; message: RegExp };

export type ImportSources = AsyncDisposable & {
  /** The URL of a complete video; `name` makes it unique. */
  good(name: string): string;
  faults: readonly Fault[];
  /** The value of `REELFEED_EGRESS_ALLOW` that permits the sources. */
  allow: string;
};

/** Content of bodies that are not videos; it must not be disclosed anywhere. */
export const secretOfSources = 'the words of an internal host';

/** Starts the sources. `maxBytes` is the maximum upload size. */
export async function startImportSources(clip: Buffer, maxBytes: number): Promise<ImportSources> {
  const handlers: Record<string, Handler> = {
    missing: (_request, response) => void response.writeHead(404).end(secretOfSources),
    broken: (_request, response) => void response.writeHead(500).end(secretOfSources),
    reset: (_request, response) => void response.socket?.destroy(),
    // The connection ends before the declared length has been sent.
    'lying-length': (_request, response) => {
      response.writeHead(200, { 'content-length': clip.length + 1_000 });
      response.write(clip, () => response.destroy());
    },
    endless: (_request, response) => {
      response.writeHead(200).write(clip);
      const filler = Buffer.alloc(64 * 1024);
      const pour = () => {
        while (response.writable && response.write(filler));
      };
      response.on('drain', pour);
      pour();
    },
    inward: (_request, response) =>
      void response.writeHead(302, { location: 'https://10.1.2.3/clip.mp4' }).end(),
    'inward-by-name': (_request, response) =>
      void response.writeHead(302, { location: 'https://localhost:9/clip.mp4' }).end(),
    page: (_request, response) =>
      void response
        .writeHead(200, { 'content-type': 'video/mp4' })
        .end(`<!doctype html>${secretOfSources}`),
    large: (_request, response) =>
      void response.writeHead(200, { 'content-length': maxBytes + 1 }).end(clip),
    slow: (_request, response) => {
      response.writeHead(200, { 'content-length': clip.length });
      response.write(clip.subarray(0, 100));
    },
  };
  const serve: Handler = (request, response) => {
    const [, kind = ''] = (request.url ?? '').split('/');
    const handler = handlers[kind];
    if (handler !== undefined) return handler(request, response);
    response.writeHead(200, { 'content-length': clip.length }).end(clip);
  };
  const trusted = await listen(receiverCertificate, serve);
  const untrusted = await listen(await createTestCertificate(['127.0.0.1']), serve);

  const unreachable = 'SOURCE_UNREACHABLE';
  const fault = (
    name: string,
    code: string,
    message: RegExp,
    url = `${trusted.url}/${name}`,
  ): Fault => ({
    name,
    url,
    code,
    message,
  });
  return {
    good: (name) => `${trusted.url}/good/${name}`,
    // With ports, so that other ports of this address count as internal.
    allow: [trusted.url, untrusted.url].map((url) => new URL(url).host).join(','),
    faults: [
      fault('missing', unreachable, /status 404/),
      fault('broken', unreachable, /status 500/),
      fault('reset', unreachable, /closed the connection|incomplete or invalid HTTP response/),
      fault(
        'lying-length',
        unreachable,
        /closed the connection|incomplete or invalid HTTP response/,
      ),
      fault('endless', 'TOO_LARGE', /more bytes|larger than/),
      fault('bad-certificate', unreachable, /certificate/, `${untrusted.url}/good`),
      fault('inward', unreachable, /public address/),
      fault('inward-by-name', unreachable, /public address/),
      fault('page', 'UNSUPPORTED_MEDIA', /not a supported/),
      fault('large', 'TOO_LARGE', /more than|larger than/),
      fault('slow', unreachable, /in time/),
    ],
    async [Symbol.asyncDispose]() {
      trusted.close();
      untrusted.close();
    },
  };
}

async function listen(certificate: { cert: string; key: string }, serve: Handler) {
  const server = createServer(certificate, (request, response) => {
    for (const stream of [request, response]) stream.on('error', () => undefined);
    serve(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
