/** Requests to the running service that the client library has no method for. */
import { UsageError, type CommandInput } from './command.ts';
import { noServiceAt, serviceUrl, trustOwnCertificate } from './open-admin.ts';

/** The service does not respond, or cannot answer now. A retry may succeed. */
export class ServiceAwayError extends Error {
  override readonly name = 'ServiceAwayError';
}

const timeoutMs = 30_000;

/**
 * The time of the service's clock in milliseconds since 1970, to the second.
 *
 * @throws ServiceAwayError
 */
export async function serviceClock(input: CommandInput): Promise<number> {
  const answer = await request(input, '/healthz', {});
  await answer.body?.cancel();
  return Date.parse(answer.headers.get('date') ?? '') || Date.now();
}

/**
 * @throws UsageError with the service's error message
 * @throws ServiceAwayError
 */
export async function askService(
  input: CommandInput,
  asked: { method: string; path: string; body?: unknown; usage: string },
): Promise<unknown> {
  const { method, path, body, usage } = asked;
  const key = input.env['REELFEED_SECRET_KEY'];
  if (key === undefined) throw new UsageError(`REELFEED_SECRET_KEY is not set.\n\n${usage}`);
  const answer = await request(input, path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text().catch((error: unknown) => {
    throw new ServiceAwayError(noServiceAt(input), { cause: error });
  });
  if (answer.ok) return JSON.parse(text);
  const message = `${method} ${path} returned ${answer.status}: ${messageOf(text)}`;
  if (answer.status === 429 || answer.status >= 500) throw new ServiceAwayError(message);
  throw new UsageError(message);
}

function request(input: CommandInput, path: string, init: RequestInit): Promise<Response> {
  trustOwnCertificate(input);
  const signal = AbortSignal.timeout(timeoutMs);
  return fetch(`${serviceUrl(input)}${path}`, { ...init, signal }).catch((error: unknown) => {
    throw new ServiceAwayError(noServiceAt(input), { cause: error });
  });
}

/** The message of the service's error response, or the whole text if something else responded. */
function messageOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    return typeof error?.message === 'string' ? error.message : text;
  } catch {
    return text;
  }
}
