/** The files that take longest start first, so that none of them is left alone at the end. */
const longest: readonly string[] = [
  'server/src/cli/demo/demo.test.ts',
  'server/src/features/media/media.test.ts',
  'server/src/features/media/timing.test.ts',
  'server/src/features/media/parts.test.ts',
  'server/src/features/player/player.test.ts',
  'server/src/cli/backup/backup.test.ts',
  'server/src/features/console/console-tasks.test.ts',
  'server/src/features/console/console-pages.test.ts',
  'server/src/features/analytics/reports/reports.test.ts',
];

/** The files in the order to start them: those of the list, and the others by name. */
export function longestFirst(files: readonly string[]): string[] {
  const known = longest.filter((file) => files.includes(file));
  return [...known, ...files.filter((file) => !known.includes(file)).toSorted()];
}
