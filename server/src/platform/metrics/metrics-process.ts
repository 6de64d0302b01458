/** Metrics of the process itself: memory, CPU, file descriptors, event loop delay. */
import { opendir } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './metrics.ts';

const lagResolutionMs = 20;
const descriptorFolder = '/proc/self/fd';

/** Adds the metrics of this process. Disposing of the result stops measuring the event loop. */
export function collectProcessMetrics(metrics: Metrics, version: string): Disposable {
  const lag = monitorEventLoopDelay({ resolution: lagResolutionMs });
  lag.enable();

  collectMemoryAndProcessor(metrics);
  metrics.collected({
    type: 'gauge',
    name: 'nodejs_eventloop_lag_seconds',
    help: 'Event loop delay since the last scrape, by quantile.',
    labels: ['quantile'],
    collect: () => {
      const readings = [50, 99, 100].map((percent) => ({
        labels: { quantile: String(percent / 100) },
        value: lagSeconds(lag.percentile(percent)),
      }));
      // Without a reset, one stall at startup would hide every later one.
      lag.reset();
      return readings;
    },
  });
  gauge(metrics, 'process_uptime_seconds', 'Time since the process started.', () =>
    process.uptime(),
  );
  gauge(
    metrics,
    'process_start_time_seconds',
    'Start time of the process in Unix time.',
    () => performance.timeOrigin / 1_000,
  );
  metrics.collected({
    type: 'gauge',
    name: 'process_open_fds',
    help: 'Open file descriptors, where available.',
    collect: async () => countDescriptors(),
  });
  gauge(
    metrics,
    'nodejs_active_resources',
    'Active timers, sockets and requests that keep the process alive.',
    () => process.getActiveResourcesInfo().length,
  );
  metrics
    .gauge({
      name: 'build_info',
      help: 'Always 1; the labels describe the running version.',
      labels: ['version', 'node'],
    })
    .set(1, { version, node: process.version });

  return { [Symbol.dispose]: () => void lag.disable() };
}

function collectMemoryAndProcessor(metrics: Metrics): void {
  gauge(metrics, 'process_resident_memory_bytes', 'Resident memory of the process.', () =>
    process.memoryUsage.rss(),
  );
  metrics.collected({
    type: 'gauge',
    name: 'nodejs_memory_bytes',
    help: 'Memory of the process by kind.',
    labels: ['kind'],
    collect: () => {
      const { heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage();
      const kinds = {
        heap_total: heapTotal,
        heap_used: heapUsed,
        external,
        array_buffers: arrayBuffers,
      };
      return Object.entries(kinds).map(([kind, value]) => ({ labels: { kind }, value }));
    },
  });
  metrics.collected({
    type: 'counter',
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process by mode.',
    labels: ['mode'],
    collect: () => {
      const { user, system } = process.cpuUsage();
      return Object.entries({ user, system }).map(([mode, microseconds]) => ({
        labels: { mode },
        value: microseconds / 1e6,
      }));
    },
  });
}

function gauge(metrics: Metrics, name: string, help: string, collect: () => number): void {
  metrics.collected({ type: 'gauge', name, help, collect });
}

/** The monitor measures from tick to tick, so an idle loop shows the resolution, not zero. */
function lagSeconds(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - lagResolutionMs) / 1_000;
}

async function countDescriptors(): Promise<number | []> {
  // Systems without procfs have no sample, which is better than a wrong one.
  const folder = await opendir(descriptorFolder).catch(() => null);
  if (folder === null) return [];
  // The folder being read is itself one of the open descriptors.
  let count = -1;
  for await (const _descriptor of folder) count += 1;
  return count;
}
