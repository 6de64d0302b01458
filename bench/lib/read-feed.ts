import { load, type LoadResult } from './load.ts';
import type { BenchService } from './service.ts';

/**
 * A busy feed that leaves some CPU capacity on one core, so that latencies measure waiting rather
 * than load.
 */
export const pagesPerSecond = 100;

/** Reads feed pages of the first organization at that rate. */
export function readFeed(service: BenchService, seconds: number): Promise<LoadResult> {
  return load({
    url: `${service.url}/v1/feed?limit=20`,
    key: service.publishableKey,
    connections: 8,
    seconds,
    perSecond: pagesPerSecond,
  });
}
