import autocannon from 'autocannon';

export type LoadResult = { perSecond: number; p50Ms: number; p99Ms: number; failures: number };
export type Load = {
  url: string;
  /** Paths to request in turn, instead of the URL's own path. */
  paths?: readonly string[];
  key?: string;
  connections: number;
  seconds: number;
  perSecond?: number;
};

/** GETs URLs over keep-alive connections, as fast as possible or at a fixed rate. */
export async function load({
  url,
  paths,
  key,
  connections,
  seconds,
  perSecond,
}: Load): Promise<LoadResult> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    ...(paths !== undefined && { requests: paths.map((path) => ({ path })) }),
    ...(key !== undefined && { headers: { authorization: `Bearer ${key}` } }),
    ...(perSecond !== undefined && { overallRate: perSecond }),
  });
  return {
    perSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failures: result.non2xx + result.errors,
  };
}
