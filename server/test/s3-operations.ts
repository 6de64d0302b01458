/** The operations of the S3 server of the tests on its objects and uploads. */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';

export type StoredObject = { bytes: Buffer; etag: string; modifiedAt: Date };
export type Upload = { name: string; parts: Map<number, StoredObject>; initiated: Date };

export class S3Error extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

export type Call = {
  request: IncomingMessage;
  response: ServerResponse;
  name: string;
  query: URLSearchParams;
  body: Buffer;
};

const minPartBytes = 5 * 2 ** 20;

export function crcOf(bytes: Buffer): string {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(bytes));
  return checksum.toString('base64');
}

export function handlersOf(
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

export function sendXml(response: ServerResponse, text: string): void {
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
