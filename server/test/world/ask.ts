/** Requests that must succeed, for setting up tests. */
import type { Call, TestService } from '../service.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape
export type Data = any;

export type Ask = (method: string, path: string, body?: unknown, call?: Call) => Promise<Data>;

/** @returns a function that sends a request and returns the `data` of its response, or throws */
export function askOf(
  service: Pick<TestService, 'call' | 'secretKey'>,
  key = service.secretKey,
): Ask {
  return async (method, path, body, call = {}) => {
    const reply = await service.call(method, path, { key, body, ...call });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
    return reply.body.data;
  };
}
