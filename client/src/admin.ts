import type {
  Answer,
  CallArguments,
  CallOptions,
  ItemOf,
  ListPath,
  Method,
  PathOf,
} from './admin-types.ts';
import { isRecord } from './errors.ts';
import { sendJson, type RetryingTransport } from './request.ts';
import { openTransport, type ConnectionOptions } from './transport.ts';
import { upload, type UploadOptions } from './upload.ts';
import { newUuid7 } from './uuid7.ts';

export type AdminOptions = ConnectionOptions & {
  /** A secret key (`rf_sk_…`). It permits every call: keep it on your server. */
  readonly secretKey: string;
  /** Retries for network errors, 408, 425, 429 and 503. Default: 3. */
  readonly maxRetries?: number | undefined;
};

/**
 * Every call of the API, typed by its description. Each method takes the path as written in the API
 * reference and the call's parts: `path`, `query`, `body`. It resolves to the whole response with
 * `data` and `meta`, and throws `ReelfeedError` with the service's `code`, `status` and
 * `requestId`, or the signal's reason once it is aborted.
 *
 * A call is retried if its outcome is unknown or the service asked for a pause. Calls that change
 * something send an `Idempotency-Key`, so a retry has no second effect.
 */
export type Admin = {
  get<P extends PathOf<'get'>>(
    path: P,
    ...call: CallArguments<'get', P>
  ): Promise<Answer<'get', P>>;
  post<P extends PathOf<'post'>>(
    path: P,
    ...call: CallArguments<'post', P>
  ): Promise<Answer<'post', P>>;
  put<P extends PathOf<'put'>>(
    path: P,
    ...call: CallArguments<'put', P>
  ): Promise<Answer<'put', P>>;
  patch<P extends PathOf<'patch'>>(
    path: P,
    ...call: CallArguments<'patch', P>
  ): Promise<Answer<'patch', P>>;
  delete<P extends PathOf<'delete'>>(
    path: P,
    ...call: CallArguments<'delete', P>
  ): Promise<Answer<'delete', P>>;
  /**
   * Creates a video item from a file and sends its bytes, resuming after every interruption.
   * Resolves to the item once all bytes are stored; processing continues in the background. With an
   * `idempotencyKey`, a restarted process can continue the same upload for up to 24 hours: call
   * again with the same key, file and metadata.
   */
  upload(file: Blob, upload: AdminUpload): Promise<Answer<'get', '/v1/content/{id}'>['data']>;
  /** The entries of all pages of a list, fetched on demand. */
  each<P extends ListPath>(
    path: P,
    ...call: CallArguments<'get', P>
  ): AsyncGenerator<ItemOf<P>, void, undefined>;
};

/** The metadata of the item to create, and how to send the file. */
export type AdminUpload = Pick<UploadOptions, 'onProgress' | 'signal' | 'maxRetries'> & {
  readonly metadata: CallOptions<'post', '/v1/content/upload'>['body'];
  readonly idempotencyKey?: string | undefined;
};

type QueryValue = string | number | boolean | readonly string[] | null | undefined;
type Query = Readonly<Record<string, QueryValue>>;

/** The parts of a call at run time. */
type Call = {
  readonly path?: Readonly<Record<string, string | number>> | undefined;
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

/** Creates a client for the whole API of one service. Throws `TypeError` for invalid options. */
export function createAdmin(options: AdminOptions): Admin {
  if (options.secretKey.startsWith('rf_pk_')) {
    throw new TypeError('The admin client requires a secret key (rf_sk_…), not a publishable key.');
  }
  return adminOver({
    ...openTransport(options, options.secretKey, 'secretKey'),
    maxRetries: options.maxRetries ?? 3,
  });
}

/**
 * Like `createAdmin`, for a page on the service's own origin. Its session cookie authenticates the
 * calls, and the header proves their origin, because a page on another origin cannot send it.
 */
export function createSessionAdmin(options: Omit<AdminOptions, 'secretKey'>): Admin {
  return adminOver({
    ...openTransport(options, 'session', 'session'),
    maxRetries: options.maxRetries ?? 3,
    signature: { accept: 'application/json', 'x-reelfeed-console': '1' },
  });
}

function adminOver(transport: RetryingTransport): Admin {
  const caller =
    (method: Method) =>
    (path: string, call: Call = {}): Promise<unknown> =>
      send(transport, method, path, call);
  const calls = {
    get: caller('get'),
    post: caller('post'),
    put: caller('put'),
    patch: caller('patch'),
    delete: caller('delete'),
    upload: (file: Blob, options: AdminUpload) => uploadFile(transport, file, options),
    each: (path: string, call: Call = {}) => readPages(transport, path, call),
  };
  // `Admin` is typed by the API description. Here, all calls share one implementation.
  return calls as unknown as Admin;
}

async function send(
  transport: RetryingTransport,
  method: Method,
  path: string,
  call: Call,
): Promise<unknown> {
  const isRead = method === 'get';
  return sendJson(transport, {
    method: method.toUpperCase(),
    path: fillIn(path, call.path ?? {}),
    parameters: queryOf(call.query ?? {}),
    headers: {
      ...(!isRead && { 'idempotency-key': call.idempotencyKey ?? newUuid7() }),
      ...call.headers,
    },
    body: call.body === undefined ? undefined : JSON.stringify(call.body),
    signal: call.signal,
  });
}

/** `/v1/content/{id}` with the placeholders filled in, relative to the base URL. */
function fillIn(path: string, values: Readonly<Record<string, string | number>>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_braces, name: string) => {
    const value = values[name];
    if (value === undefined || value === '') throw new TypeError(`${path} requires path.${name}`);
    // URL parsers remove such a segment, even if it is encoded.
    if (value === '.' || value === '..') throw new TypeError(`path.${name} cannot be "${value}"`);
    return encodeURIComponent(value);
  });
  return filled.replace(/^\//, '');
}

function queryOf(query: Query): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    parameters.set(name, typeof value === 'object' ? value.join(',') : String(value));
  }
  return parameters;
}

async function uploadFile(
  transport: RetryingTransport,
  file: Blob,
  { metadata, idempotencyKey, ...options }: AdminUpload,
): Promise<unknown> {
  const { signal } = options;
  const call = { body: metadata, idempotencyKey, signal };
  const opened = await send(transport, 'post', '/v1/content/upload', call);
  const { id, uploadUrl } = dataOf(opened);
  if (typeof id !== 'string' || typeof uploadUrl !== 'string') {
    throw new TypeError('The service did not create an upload.');
  }
  await upload(file, { ...options, uploadUrl, fetch: transport.fetch });
  return dataOf(await send(transport, 'get', '/v1/content/{id}', { path: { id }, signal }));
}

function dataOf(answer: unknown): Record<string, unknown> {
  return isRecord(answer) && isRecord(answer['data']) ? answer['data'] : {};
}

async function* readPages(
  transport: RetryingTransport,
  path: string,
  call: Call,
): AsyncGenerator<unknown, void, undefined> {
  let query = call.query ?? {};
  for (;;) {
    const page = await send(transport, 'get', path, { ...call, query });
    if (!isRecord(page) || !Array.isArray(page['data'])) return;
    yield* page['data'];
    const next = isRecord(page['meta']) ? page['meta']['nextCursor'] : null;
    if (typeof next !== 'string' || next === query['cursor']) return;
    query = { ...query, cursor: next };
  }
}
