/**
 * Files about what a service does in time, such as encoding a broadcast as it arrives. They run one
 * at a time after all others, because a busy machine would rightly make the service do less.
 */
const needingQuiet = new Set([
  'server/src/features/player/player-live-rungs.test.ts',
  'server/test/live-encoders.test.ts',
  'server/test/live-ladder.test.ts',
  'server/test/live-low-latency.test.ts',
  'server/test/live-strangers.test.ts',
]);

export function needsQuiet(file: string): boolean {
  return needingQuiet.has(file);
}

/** The longest files start first, so that none runs alone at the end. */
const longest: readonly string[] = [
  'server/test/crowded-world.test.ts',
  'server/src/cli/demo/demo.test.ts',
  'server/test/cli.test.ts',
  'server/src/features/console/console-editing.test.ts',
  'server/src/features/console/console-pages.test.ts',
  'server/test/processing.test.ts',
  'server/test/feed-attacks.test.ts',
  'server/test/faults.test.ts',
  'server/test/early-playback.test.ts',
  'server/test/event-crash.test.ts',
  'server/src/features/console/console-tasks.test.ts',
  'server/src/platform/database/migrate.test.ts',
  'server/test/disk-full.test.ts',
  'server/test/rolling-restart.test.ts',
  'server/src/features/player/player.test.ts',
  'server/src/features/analytics/reports/reports.test.ts',
  'server/src/features/media/media.test.ts',
  'server/test/processes.test.ts',
  'server/src/features/media/corpus.test.ts',
  'server/src/features/webhooks/endpoints/stop-means-stop.test.ts',
  'server/src/features/player/player-carousels.test.ts',
  'server/src/features/webhooks/sending/shared-origin.test.ts',
  'server/test/erasure-scan.test.ts',
  'server/test/experiment-people.test.ts',
  'server/src/cli/backup/backup.test.ts',
  'server/test/taste.test.ts',
  'server/test/addresses.test.ts',
  'server/src/features/media/timing.test.ts',
  'server/test/feed-crowd.test.ts',
  'server/test/routes.test.ts',
  'server/src/features/media/closed-captions.test.ts',
  'server/src/features/analytics/reports/benchmark.test.ts',
  'server/test/s3.test.ts',
];

/** The files in starting order: the listed ones, then the others by name. */
export function longestFirst(files: readonly string[]): string[] {
  const known = longest.filter((file) => files.includes(file));
  return [...known, ...files.filter((file) => !known.includes(file)).toSorted()];
}
