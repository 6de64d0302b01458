/**
 * Runs the sources of imports in a worker thread, because their encryption would delay the
 * measuring thread.
 */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { startImportSources } from '../../server/test/import-sources.ts';
import { authority } from '../../server/test/receiver.ts';

type Sources = {
  /** Serves the video under any file name appended to it. */
  readonly goodUrl: string;
  readonly faultUrls: readonly string[];
  /** The `REELFEED_EGRESS_ALLOW` entry for the sources. */
  readonly allow: string;
  /** The certificate of the authority that signed the certificate of the sources. */
  readonly authority: string;
};

type Served = { readonly clip: Uint8Array; readonly maxBytes: number };

export async function startSourcesThread(served: Served): Promise<Sources & AsyncDisposable> {
  const worker = new Worker(new URL(import.meta.url), { workerData: served });
  const [sources] = (await once(worker, 'message')) as [Sources];
  return {
    ...sources,
    [Symbol.asyncDispose]: async () => void (await worker.terminate()),
  };
}

if (!isMainThread) {
  const { clip, maxBytes } = workerData as Served;
  const started = await startImportSources(Buffer.from(clip), maxBytes);
  const sources: Sources = {
    goodUrl: started.good(''),
    faultUrls: started.faults.map(({ url }) => url),
    allow: started.allow,
    authority: authority.cert,
  };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window
  parentPort?.postMessage(sources);
}
