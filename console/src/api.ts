/** The console's way to the API: the public client, signed by the session cookie. */
import { createSessionAdmin, ReelfeedError } from '@reelfeed/client/session';
import { fetchInSession } from './session.ts';

/** The service below whose address this page lies. */
const serviceUrl = new URL('../', window.location.href.split('#')[0]);
const header = { 'X-Reelfeed-Console': '1' };

export const api = createSessionAdmin({
  baseUrl: serviceUrl,
  fetch: fetchInSession,
  timeoutMs: 30_000,
  maxRetries: 2,
});

/** The address of a path of the service, such as `/feed`. */
export const serviceAddress = (path: string): string =>
  new URL(path.replace(/^\//, ''), serviceUrl).href;

/** The same service under the address of this page, so that no other origin is asked. */
export const ownAddress = (url: string): string => serviceAddress(url.slice(url.indexOf('/v1/')));

/** Begins or ends the session. @throws ReelfeedError */
export async function changeSession(method: 'POST' | 'DELETE', body?: object): Promise<void> {
  const init = {
    method,
    ...(body !== undefined && {
      headers: { ...header, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  };
  // A refused key says nothing of the session that there may be.
  await (await ask('/console/session', init, fetch)).text();
}

/** Sends a form with a file, which the client has no method for. @throws ReelfeedError */
export const sendForm = (
  path: string,
  form: FormData,
  method: 'POST' | 'PUT' = 'POST',
): Promise<void> => send(path, { method, body: form });

/** Opens a stream of server-sent events. @throws ReelfeedError */
export const openStream = (path: string, signal: AbortSignal): Promise<Response> =>
  ask(path, { signal });

/** Reads a resource as text of a type. @throws ReelfeedError */
export const readText = async (path: string, type: string): Promise<string> =>
  (await ask(path, { headers: { ...header, Accept: type } })).text();

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
