/**
 * An in-memory S3 server with one bucket for tests. It is as strict as S3 about signatures, body
 * checksums, sizes and order of parts, and conditions. On demand, it fails like S3 and networks do.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { atEnd } from './database.ts';
import { checkSignature, sha256, type Credentials } from './s3-signature.ts';

type StoredObject = { bytes: Buffer; etag: string; modifiedAt: Date };
type Upload = { name: string; parts: Map<number, StoredObject>; initiated: Date };

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

class S3Error extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

type Call = {
  request: IncomingMessage;
  response: ServerResponse;
  name: string;
  query: URLSearchParams;
  body: Buffer;
};

const minPartBytes = 5 * 2 ** 20;

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

function crcOf(bytes: Buffer): string {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(bytes));
  return checksum.toString('base64');
}

function handlersOf(
  objects: Map<string, StoredObject>,
  uploads: Map<string, Upload>,
  pageSize: number,
): Record<string, (call: Call) => void> {
  const requireUpload = ({ query, name }: Call): Upload => {
    const upload = uploads.get(query.get('uploadId') ?? '');
    if (upload?.name !== name) throw new S3Error(404, 'NoSuchUpload');
    return upload;
  };
  const requireObject = (name: string): StoredObject => {
    const object = objects.get(name);
    if (object === undefined) throw new S3Error(404, 'NoSuchKey');
    return object;
  };
  return {
    PutObject({ name, body, response, request }) {
      if (request.headers['if-none-match'] === '*' && objects.has(name)) {
        throw new S3Error(412, 'PreconditionFailed');
      }
      const object = objectOf(body);
      objects.set(name, object);
      response.writeHead(200, { etag: object.etag }).end();
    },
    HeadObject({ name, response }) {
      const object = requireObject(name);
      response
        .writeHead(200, { ...headersOf(object), 'content-length': object.bytes.length })
        .end();
    },
    GetObject({ name, request, response, query }) {
      sendObject(requireObject(name), request, response, query);
    },
    DeleteObject({ name, response }) {
      objects.delete(name);
      response.writeHead(204).end();
    },
    DeleteObjects({ body, response }) {
      const names = valuesOf(body, 'Key');
      if (names.length === 0 || names.length > 1_000) throw new S3Error(400, 'MalformedXML');
      for (const name of names) objects.delete(name);
      sendXml(response, '<DeleteResult/>');
    },
    ListObjectsV2({ query, response }) {
      const prefix = query.get('prefix') ?? '';
      const after = query.get('continuation-token') ?? '';
      const size = Math.min(pageSize, Number(query.get('max-keys') ?? 1_000));
      const names = [...objects.keys()].filter((name) => name.startsWith(prefix)).toSorted();
      const left = names.filter((name) => name > after);
      const page = left.slice(0, size);
      const entries = page.map((name) => {
        const { bytes, etag, modifiedAt } = requireObject(name);
        return `<Contents><Key>${name}</Key><LastModified>${modifiedAt.toISOString()}</LastModified><ETag>${etag}</ETag><Size>${bytes.length}</Size></Contents>`;
      });
      const isCut = left.length > page.length;
      const token = isCut ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
      sendXml(
        response,
        `<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${token}${entries.join('')}</ListBucketResult>`,
      );
    },
    CreateMultipartUpload({ name, response }) {
      const id = randomUUID();
      uploads.set(id, { name, parts: new Map(), initiated: new Date() });
      sendXml(
        response,
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    },
    UploadPart(call) {
      const part = objectOf(call.body);
      requireUpload(call).parts.set(Number(call.query.get('partNumber')), part);
      const checksum = { 'x-amz-checksum-crc32': crcOf(call.body) };
      call.response.writeHead(200, { etag: part.etag, ...checksum }).end();
    },
    UploadPartCopy(call) {
      const source = decodeURIComponent(String(call.request.headers['x-amz-copy-source']));
      const part = objectOf(requireObject(source.slice(source.indexOf('/') + 1)).bytes);
      requireUpload(call).parts.set(Number(call.query.get('partNumber')), part);
      sendXml(call.response, `<CopyPartResult><ETag>${part.etag}</ETag></CopyPartResult>`);
    },
    CompleteMultipartUpload(call) {
      const object = join(requireUpload(call), call.body);
      uploads.delete(call.query.get('uploadId') ?? '');
      objects.set(call.name, object);
      sendXml(
        call.response,
        `<CompleteMultipartUploadResult><ETag>${object.etag}</ETag></CompleteMultipartUploadResult>`,
      );
    },
    AbortMultipartUpload(call) {
      requireUpload(call);
      uploads.delete(call.query.get('uploadId') ?? '');
      call.response.writeHead(204).end();
    },
    ListMultipartUploads({ query, response }) {
      const prefix = query.get('prefix') ?? '';
      const entries = [...uploads]
        .filter(([, { name }]) => name.startsWith(prefix))
        .map(
          ([id, { name, initiated }]) =>
            `<Upload><Key>${name}</Key><UploadId>${id}</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`,
        );
      const list = `<IsTruncated>false</IsTruncated>${entries.join('')}`;
      sendXml(response, `<ListMultipartUploadsResult>${list}</ListMultipartUploadsResult>`);
    },
  };
}

function objectOf(bytes: Buffer): StoredObject {
  const etag = `"${createHash('md5').update(bytes).digest('hex')}"`;
  return { bytes: Buffer.from(bytes), etag, modifiedAt: new Date() };
}

/** The parts of the completion request, in ascending order, all but the last at least 5 MiB. */
function join({ parts }: Upload, body: Buffer): StoredObject {
  const numbers = valuesOf(body, 'PartNumber').map(Number);
  const etags = valuesOf(body, 'ETag');
  const isAscending = numbers.every((one, index) => one > (numbers[index - 1] ?? 0));
  if (numbers.length === 0 || !isAscending) throw new S3Error(400, 'InvalidPartOrder');
  const named = numbers.map((number, index) => {
    const part = parts.get(number);
    if (part === undefined || part.etag !== etags[index]) throw new S3Error(400, 'InvalidPart');
    const isLast = index === numbers.length - 1;
    if (!isLast && part.bytes.length < minPartBytes) throw new S3Error(400, 'EntityTooSmall');
    return part;
  });
  const whole = objectOf(Buffer.concat(named.map(({ bytes }) => bytes)));
  return { ...whole, etag: `${whole.etag.slice(0, -1)}-${named.length}"` };
}

function headersOf({ etag, modifiedAt }: StoredObject): Record<string, string> {
  return { etag, 'last-modified': modifiedAt.toUTCString(), 'accept-ranges': 'bytes' };
}

function sendObject(
  object: StoredObject,
  { headers }: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): void {
  const condition = headers['if-match'];
  if (condition !== undefined && condition !== object.etag) {
    throw new S3Error(412, 'PreconditionFailed');
  }
  const size = object.bytes.length;
  const said = headersOf(object);
  for (const name of ['content-type', 'content-disposition', 'cache-control']) {
    const value = query.get(`response-${name}`);
    if (value !== null) said[name] = value;
  }
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '') ?? [];
  if (first === undefined || last === undefined) {
    response.writeHead(200, { ...said, 'content-length': size }).end(object.bytes);
    return;
  }
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (start > end) throw new S3Error(416, 'InvalidRange');
  const range = { 'content-range': `bytes ${start}-${end}/${size}` };
  response
    .writeHead(206, { ...said, ...range, 'content-length': end - start + 1 })
    .end(object.bytes.subarray(start, end + 1));
}

function sendXml(response: ServerResponse, text: string): void {
  response
    .writeHead(200, { 'content-type': 'application/xml' })
    .end(`<?xml version="1.0"?>${text}`);
}

/** The texts of all elements with a name. */
function valuesOf(body: Buffer, element: string): string[] {
  const form = new RegExp(`<${element}>([^<]*)</${element}>`, 'g');
  return [...body.toString().matchAll(form)].map(([, text = '']) =>
    text.replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
  );
}
