/** Background work of a process, by role. */
import { randomUUID } from 'node:crypto';
import type { ProcessRole } from '../platform/settings/config.ts';
import type { Chore, Contribution } from '../platform/feature/feature.ts';
import { electedLoop } from '../platform/leases/elected-chore.ts';
import { background, every } from '../platform/async/lifecycle.ts';
import { pruneFailedJobs } from '../platform/queue/queue-reports.ts';
import {
  jobAttemptEnded,
  startQueueWorkers,
  type QueueWorkers,
} from '../platform/queue/queue-workers.ts';
import { hourMs } from '../platform/values/time.ts';
import { observeAttempts } from './metrics.ts';
import type { PlatformParts } from './platform-parts.ts';
import type { Shutdown } from './shutdown.ts';

/** Starts the services, the chores and the queue workers of this process. */
export function startWork(
  parts: PlatformParts,
  contributions: readonly Contribution[],
  shutdown: Shutdown,
): QueueWorkers | null {
  const { log } = parts;
  const isOurs = ({ roles = ['worker'] }: { roles?: readonly ProcessRole[] }) =>
    roles.some((role) => parts.roles.includes(role));
  for (const { name, run } of contributions
    .flatMap(({ services }) => services ?? [])
    .filter(isOurs)) {
    shutdown.add('services', background(name, run, log));
  }
  const chores = [...platformChores(parts), ...contributions.flatMap((one) => one.chores ?? [])];
  const holderId = randomUUID();
  for (const chore of chores.filter(isOurs)) {
    const loop = chore.isLocal === true ? localLoop(chore) : electedLoop(parts.db, holderId, chore);
    shutdown.add('chores', background(chore.name, loop, log));
  }
  const jobs = contributions.flatMap((one) => one.jobs ?? []).filter(isOurs);
  if (jobs.length === 0) return null;
  const observeAttempt = observeAttempts(parts.metrics);
  const workers = startQueueWorkers({
    db: parts.db,
    log,
    jobs,
    hints: parts.hints,
    tracing: parts.tracing,
    onAttempt(report) {
      observeAttempt(report);
      parts.hints.give(jobAttemptEnded);
    },
    ...(parts.ownsDataDirectory && { exclusiveName: 'owner of the data directory' }),
  });
  return shutdown.add('jobs', workers);
}

function localLoop({ intervalMs, run }: Chore): (signal: AbortSignal) => Promise<void> {
  return (signal) => every(intervalMs, async () => void (await run(signal)), signal);
}

function platformChores({ db, mutations }: PlatformParts): Chore[] {
  return [
    { name: 'prune answers', intervalMs: hourMs, run: (signal) => mutations.prune(signal) },
    { name: 'prune failed jobs', intervalMs: hourMs, run: (signal) => pruneFailedJobs(db, signal) },
  ];
}
