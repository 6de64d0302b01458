/**
 * An in-memory S3 server with one bucket for tests. It is as strict as S3 about signatures, body
 * checksums, sizes and order of parts, and conditions. On demand, it fails like S3 and networks do.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { atEnd } from './database.ts';
import { crcOf, handlersOf, S3Error, type StoredObject, type Upload } from './s3-operations.ts';
import { checkSignature, sha256, type Credentials } from './s3-signature.ts';

export type Fault = {
  /** The operation that fails, such as `PutObject`. Default: all. */
  operation?: string;
  /** Number of times. Default 1. */
  times?: number;
  /**
   * An error code with its status, a connection closed before the response, a truncated response,
   * or no response until the server stops.
   */
  how: { status: number; code: string } | 'cut' | 'cut body' | 'silence';
};

export type S3Server = AsyncDisposable & {
  endpoint: string;
  bucket: string;
  credentials: Credentials;
  /** Objects by name, including the prefix. */
  objects: Map<string, StoredObject>;
  uploads: Map<string, Upload>;
  /** The received operations in order. */
  operations: string[];
  /** Makes the next requests fail. */
  fail(fault: Fault): void;
  /** No request fails any more. */
  clearFaults(): void;
  /**
   * Resolves when a matching request arrives for an object with such a name. Its response is held
   * back until the returned function is called.
   */
  hold(operation: string, name?: RegExp): Promise<() => void>;
};

type Hold = { operation: string; name: RegExp; onHeld: (release: () => void) => void };

type Options = { bucket?: string; /** Entries in a page of a list. */ pageSize?: number };

/** Starts the server on a free port. Stopped at the end of the test file. */
export async function startS3({
  bucket = 'media',
  pageSize = 1_000,
}: Options = {}): Promise<S3Server> {
  const credentials = { accessKeyId: 'AKTEST', secretAccessKey: `secret/${randomUUID()}` };
  const objects = new Map<string, StoredObject>();
  const uploads = new Map<string, Upload>();
  const operations: string[] = [];
  const faults: Required<Fault>[] = [];
  const holds: Hold[] = [];

  const handlers = handlersOf(objects, uploads, pageSize);
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://server');
    const [, first = '', ...rest] = url.pathname.split('/');
    const name = rest.map(decodeURIComponent).join('/');
    const operation = operationOf(request, name, url.searchParams);
    operations.push(operation);
    const body = await buffer(request);
    const hold = holds.find((one) => one.operation === operation && one.name.test(name));
    if (hold !== undefined) {
      holds.splice(holds.indexOf(hold), 1);
      await new Promise<void>((resolve) => hold.onHeld(resolve));
    }
    const fault = faults.find((one) => one.operation === '' || one.operation === operation);
    if (fault !== undefined) {
      fault.times -= 1;
      if (fault.times === 0) faults.splice(faults.indexOf(fault), 1);
      if (fault.how === 'silence') return;
      if (fault.how === 'cut') return void request.socket.destroy();
      if (fault.how !== 'cut body') throw new S3Error(fault.how.status, fault.how.code);
      cutBody(response);
    }
    const signature = checkSignature(request, credentials);
    if ('refusal' in signature) throw new S3Error(403, signature.refusal);
    checkBody(request, body, signature.payloadHash);
    if (first !== bucket) throw new S3Error(404, 'NoSuchBucket');
    const handler = handlers[operation];
    if (handler === undefined) throw new S3Error(501, 'NotImplemented');
    handler({ request, response, name, query: url.searchParams, body });
  }

  const server = createServer((request, response) => {
    response.setHeader('x-amz-request-id', 'TESTREQUEST');
    handle(request, response).catch((error: unknown) => {
      const { status, code } =
        error instanceof S3Error ? error : { status: 500, code: 'InternalError' };
      const text = `<Error><Code>${code}</Code><Message>${code} of the test</Message></Error>`;
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(request.method === 'HEAD' ? undefined : text);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const end = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
  };
  atEnd(end);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    credentials,
    objects,
    uploads,
    operations,
    fail: ({ operation = '', times = 1, how }) => void faults.push({ operation, times, how }),
    clearFaults: () => void (faults.length = 0),
    hold: (operation, name = /^/) =>
      new Promise((onHeld) => holds.push({ operation, name, onHeld })),
    [Symbol.asyncDispose]: end,
  };
}

/** The settings of a service that stores its media there. */
export function s3Settings(s3: S3Server, prefix = 'reel'): Record<string, string> {
  return {
    REELFEED_MEDIA_URL: `s3://${s3.bucket}/${prefix}`,
    AWS_ENDPOINT_URL_S3: s3.endpoint,
    AWS_REGION: 'eu-test-1',
    AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
  };
}

function operationOf({ method, headers }: IncomingMessage, name: string, query: URLSearchParams) {
  const has = (parameter: string): boolean => query.has(parameter);
  if (method === 'GET' && name === '')
    return has('uploads') ? 'ListMultipartUploads' : 'ListObjectsV2';
  if (method === 'GET') return 'GetObject';
  if (method === 'HEAD') return 'HeadObject';
  if (method === 'POST' && has('delete')) return 'DeleteObjects';
  if (method === 'POST')
    return has('uploads') ? 'CreateMultipartUpload' : 'CompleteMultipartUpload';
  if (method === 'DELETE') return has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject';
  if (method !== 'PUT') return 'Unknown';
  if (!has('partNumber')) return 'PutObject';
  return headers['x-amz-copy-source'] === undefined ? 'UploadPart' : 'UploadPartCopy';
}

/** Sends the head and half of the next body, then closes the connection. */
function cutBody(response: ServerResponse): void {
  const end = response.end.bind(response);
  response.end = ((chunk: Buffer) => {
    if (!Buffer.isBuffer(chunk) || chunk.length < 2) return end(chunk);
    response.write(chunk.subarray(0, chunk.length >> 1), () => response.destroy());
    return response;
  }) as typeof response.end;
}

/** Verifies that the body matches the signed hash and the checksum header. */
function checkBody({ headers }: IncomingMessage, body: Buffer, payloadHash: string | null): void {
  if (payloadHash !== null && payloadHash !== sha256(body)) {
    throw new S3Error(400, 'XAmzContentSHA256Mismatch');
  }
  const crc = headers['x-amz-checksum-crc32'];
  if (crc !== undefined && crc !== crcOf(body)) throw new S3Error(400, 'BadDigest');
}
