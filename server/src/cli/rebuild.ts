import { allProjections } from '../features/analytics/projecting/all-projections.ts';
import { rebuildProjection } from '../features/analytics/projecting/rebuild.ts';
import { readConfig } from '../platform/config.ts';
import { print, UsageError, type Command } from './command.ts';
import { withDatabase } from './with-database.ts';

const usage = `Usage: reelfeed rebuild ${allProjections.map(({ name }) => name).join('|')}|all`;

/** Makes projections anew from the event log. The service may run meanwhile. */
export const rebuild: Command = async ({ env, positionals: [wanted], json }) => {
  const projections = allProjections.filter(({ name }) => wanted === 'all' || name === wanted);
  if (projections.length === 0) throw new UsageError(usage);
  const { signal } = new AbortController();
  await withDatabase(readConfig(env), async (db) => {
    for (const projection of projections) {
      let shownPercent = -1;
      await rebuildProjection(
        db,
        projection,
        ({ events, total }) => {
          const percent = total === 0 ? 100 : Math.floor((100 * events) / total);
          // Progress goes to the other stream, so that --json prints JSON alone.
          if (percent !== shownPercent) {
            process.stderr.write(`${projection.name}: ${percent} % of ${total} events\n`);
          }
          shownPercent = percent;
        },
        signal,
      );
    }
  });
  const names = projections.map(({ name }) => name);
  print(json, { rebuilt: names }, [`Rebuilt: ${names.join(', ')}`]);
};
