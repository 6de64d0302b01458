import { allProjections } from '../app/projections.ts';
import { rebuildProjection } from '../platform/projections/rebuild.ts';
import { openConfiguredLog } from '../features/events/events.ts';
import { readConfig, type Config } from '../app/config.ts';
import { createLogger } from '../platform/logging/logging.ts';
import { version } from '../version.ts';
import { print, UsageError, type Command } from './command.ts';
import { withDatabase } from './with-database.ts';

/**
 * Rebuilds projections from the event log. The service may keep running. Several processes share
 * the work on a projection if they run this command at the same time.
 */
export const rebuild: Command = async ({ env, positionals: [wanted], json }) => {
  const config = readConfig(env);
  const known = allProjections(config);
  const projections = known.filter(({ name }) => wanted === 'all' || name === wanted);
  if (projections.length === 0) {
    const names = known.map(({ name }) => name).join('|');
    throw new UsageError(`Usage: reelfeed rebuild ${names}|all`);
  }
  const { signal } = new AbortController();
  await withDatabase(config, async (db) => {
    await using opened = await openConfiguredLog(db, config, createLogger('error'));
    for (const projection of projections) {
      let shownPercent = -1;
      await rebuildProjection(projection, {
        db,
        eventLog: opened.eventLog,
        edition: editionOf(config),
        onProgress: ({ events, total }) => {
          const percent = total === 0 ? 100 : Math.floor((100 * events) / total);
          // Progress goes to standard error, so that `--json` prints nothing but JSON.
          if (percent !== shownPercent) {
            process.stderr.write(`${projection.name}: ${percent} % of ${total} events\n`);
          }
          shownPercent = percent;
        },
        signal,
      });
    }
  });
  const names = projections.map(({ name }) => name);
  print(json, { rebuilt: names }, [`Rebuilt: ${names.join(', ')}`]);
};

/** The code and the settings that what is stored depends on. */
function editionOf({ botEvents, sessionTimeoutMs }: Config): string {
  return JSON.stringify({ version, botEvents, sessionTimeoutMs });
}
