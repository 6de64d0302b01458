/** The console's access to the API: the public client, authenticated by the session cookie. */
import {
  createSessionAdmin,
  ReelfeedError,
  type Answer,
  type PathOf,
} from '@reelfeed/client/session';
import { fetchInSession } from './session.ts';

/** The service that serves this page, one folder above it. */
const serviceUrl = new URL('../', window.location.href.split('#')[0]);
const header = { 'X-Reelfeed-Console': '1' };

export const api = createSessionAdmin({
  baseUrl: serviceUrl,
  fetch: fetchInSession,
  timeoutMs: 30_000,
  maxRetries: 2,
});

/** The address of a service path, such as `/feed`. */
export const serviceAddress = (path: string): string =>
  new URL(path.replace(/^\//, ''), serviceUrl).href;

/** Maps a URL to the address of this page, so that no other origin is contacted. */
export const ownAddress = (url: string): string => serviceAddress(url.slice(url.indexOf('/v1/')));

/**
 * Starts or ends the session.
 * @throws {ReelfeedError}
 */
export async function changeSession(method: 'POST' | 'DELETE', body?: object): Promise<void> {
  const init = {
    method,
    ...(body !== undefined && {
      headers: { ...header, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  };
  // A rejected key says nothing about an existing session.
  await (await ask('/console/session', init, fetch)).text();
}

/**
 * Calls the routes for signing in and for the user's own account.
 * @throws {ReelfeedError}
 */
export async function askAccount<Data>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
): Promise<Data> {
  const init = {
    method,
    headers: { ...header, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  // A rejected password says nothing about an existing session.
  const answer = await ask(`/console/account${path}`, init, fetch);
  return ((await answer.json()) as { data: Data }).data;
}

export type Update = { version: string; notesUrl: string | null; ownVersion: string };

/**
 * The newer version of the service, or null.
 * @throws {ReelfeedError}
 */
export async function readUpdate(): Promise<Update | null> {
  const answer = await ask('/console/update', { headers: header });
  return ((await answer.json()) as { data: Update | null }).data;
}

/**
 * Sends a form with a file, for which the client has no method.
 * @throws {ReelfeedError}
 */
export const sendForm = (
  path: string,
  form: FormData,
  method: 'POST' | 'PUT' = 'POST',
): Promise<void> => send(path, { method, body: form });

/**
 * Opens a stream of server-sent events.
 * @throws {ReelfeedError}
 */
export const openStream = (path: string, signal: AbortSignal): Promise<Response> =>
  ask(path, { signal });

/**
 * Reads a resource as text of the given type.
 * @throws {ReelfeedError}
 */
export const readText = async (path: string, type: string): Promise<string> =>
  (await ask(path, { headers: { ...header, Accept: type } })).text();

/**
 * Reads a resource with its `ETag`, for a form that changes this version.
 * @throws {ReelfeedError}
 */
export async function readTagged<P extends PathOf<'get'>>(
  path: string,
  signal?: AbortSignal,
): Promise<Answer<'get', P> & { tag: string | null }> {
  const answer = await ask(path, { headers: header, ...(signal !== undefined && { signal }) });
  const body = (await answer.json()) as Answer<'get', P>;
  return Object.assign({}, body, { tag: answer.headers.get('etag') });
}

async function send(path: string, init: RequestInit): Promise<void> {
  await (await ask(path, init)).text();
}

async function ask(path: string, init: RequestInit, by = fetchInSession): Promise<Response> {
  const answer = await by(serviceAddress(path), { headers: header, ...init }).catch(() => {
    throw failure('NETWORK_ERROR', 'The service cannot be reached.', null);
  });
  if (answer.ok) return answer;
  const { error } = (await answer.json().catch(() => ({}))) as {
    error?: { code: string; message: string };
  };
  const message = error?.message ?? `The service answered with status ${answer.status}.`;
  throw failure(error?.code ?? `HTTP_${answer.status}`, message, answer.status);
}

function failure(code: string, message: string, status: number | null): ReelfeedError {
  return new ReelfeedError({
    code,
    message,
    status,
    requestId: null,
    retryAfterMs: null,
    details: [],
  });
}
