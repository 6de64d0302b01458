/**
 * Body parsing of the two intake routes. Unlike other JSON bodies, these may be `text/plain` (from
 * `sendBeacon`) or compressed, and text that cannot be stored invalidates only its event.
 */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../../platform/http/errors.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import { decodeJsonText, readInTurn, refuseBadShape } from '../../../platform/http/json-bodies.ts';
import { mayHoldBadText } from '../../../platform/http/text-rules.ts';
import type { Admission } from './admission.ts';

/** The request body as the routes receive it, unparsed. */
export type EventBody = {
  readonly json: unknown;
  readonly bytes: number;
  readonly mayHoldBadText: boolean;
};

const maxUnpackedBytes = 1024 * 1024;
const unpack: Readonly<Record<string, (packed: Buffer) => Promise<Buffer>>> = {
  gzip: (packed) => gunzipped(packed, { maxOutputLength: maxUnpackedBytes }),
  br: (packed) => unbrotlied(packed, { maxOutputLength: maxUnpackedBytes }),
};
const gunzipped = promisify(gunzip);
const unbrotlied = promisify<Buffer, { maxOutputLength: number }, Buffer>(brotliDecompress);

/** Installs the body parsers for the routes that are added to `app`. */
export function parseEventBodies(app: HttpApp, admission: Admission): void {
  app.removeAllContentTypeParsers();
  const types = ['application/json', 'text/plain'];
  app.addContentTypeParser(types, { parseAs: 'buffer' }, (request, body, done) => {
    try {
      admission.startWork(request, (body as Buffer).length);
    } catch (error) {
      done(error as Error);
      return;
    }
    const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
    if (encoding === 'identity' || encoding === '') {
      finishInTurn(request, body as Buffer, done);
      return;
    }
    unpackBody(encoding, body as Buffer).then(
      (bytes) => finishInTurn(request, bytes, done),
      (error: unknown) => done(error as Error),
    );
  });
}

type Done = (error: Error | null, body?: EventBody) => void;

function finishInTurn(request: FastifyRequest, bytes: Buffer, done: Done): void {
  readInTurn(bytes.length, () => finish(request, bytes, done));
}

function finish(request: FastifyRequest, bytes: Buffer, done: Done): void {
  let body: EventBody;
  try {
    // An out-of-range number invalidates only its event.
    refuseBadShape(bytes, false);
    const text = decodeJsonText(request, bytes);
    body = { json: parse(text), bytes: bytes.length, mayHoldBadText: mayHoldBadText(text) };
  } catch (error) {
    done(error as Error);
    return;
  }
  done(null, body);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = 'The body is not valid JSON.';
    throw new ApiError('INVALID_REQUEST', { message, cause: error });
  }
}

async function unpackBody(encoding: string, packed: Buffer): Promise<Buffer> {
  const work = Object.hasOwn(unpack, encoding) ? unpack[encoding] : undefined;
  if (work === undefined) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', {
      message: 'Bodies may be compressed with gzip or br.',
      headers: { 'accept-encoding': 'gzip, br' },
    });
  }
  try {
    return await work(packed);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new ApiError('PAYLOAD_TOO_LARGE', { cause: error });
    }
    const message = `The body is not valid ${encoding}.`;
    throw new ApiError('INVALID_REQUEST', { message, cause: error });
  }
}
