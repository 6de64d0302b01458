/** Resolves host names without letting a slow name server block the process. */
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';

export type ResolverOptions = {
  /** Name servers as `address:port`. Default: the system's. */
  readonly servers?: readonly string[];
  /** Timeout of one query to one name server; each server is queried twice. */
  readonly timeoutMs?: number;
};

/**
 * Queries the name servers with Node's own DNS client, and uses the system's `getaddrinfo` (which
 * reads the hosts file) only for names they don't know. The order matters: `getaddrinfo` blocks one
 * of the process's four shared threads, and a few names with silent name servers would occupy all
 * of them and with them all file access of the process. Names without a dot and `localhost` belong
 * to the system, so they work without any name server.
 */
export function createResolver({
  servers,
  timeoutMs = 2_000,
}: ResolverOptions = {}): LookupFunction {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return (hostname, options, callback) => {
    const isLocal = !hostname.includes('.') || hostname.endsWith('.localhost');
    const asked = isLocal ? Promise.resolve([]) : resolveAll(resolver, hostname);
    asked.then(
      (addresses) => {
        if (addresses.length > 0) callback(null, addresses);
        else systemLookup(hostname, { ...options, all: true }, callback);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

/** Returns all addresses of a name; an empty list if the name servers don't know it. */
async function resolveAll(resolver: Resolver, hostname: string): Promise<LookupAddress[]> {
  const results = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  const found = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  const silent = results.find((result) => result.status === 'rejected' && isSilence(result.reason));
  if (found.length === 0 && silent?.status === 'rejected') throw silent.reason;
  return found.map((address) => ({ address, family: isIP(address) }));
}

/** No answer in time, as opposed to a negative answer or having no name server at all. */
function isSilence(reason: unknown): boolean {
  return reason instanceof Error && 'code' in reason && reason.code === 'ETIMEOUT';
}

/**
 * All addresses of a host as text; an address resolves to itself. Rejects with the resolver's
 * error, or with the signal's reason if that comes first.
 */
export function resolveHost(
  lookup: LookupFunction,
  host: string,
  signal?: AbortSignal,
): Promise<readonly LookupAddress[]> {
  if (isIP(host) !== 0) return Promise.resolve([{ address: host, family: isIP(host) }]);
  const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
  const onAbort = (): void => reject(signal?.reason);
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  lookup(host, { all: true }, (error, address, family) => {
    if (error !== null) reject(error);
    else if (typeof address === 'string') resolve([{ address, family: family ?? isIP(address) }]);
    else resolve(address);
  });
  return promise.finally(() => signal?.removeEventListener('abort', onAbort));
}
