/** The viewers of the demo: sends their past day at once, then simulates them live. */
import type { Logger } from 'pino';
import { keepRunning } from '../../platform/async/lifecycle.ts';
import { untilProcessed } from './clip-uploads.ts';
import { endExperiment, startExperiments } from './experiments.ts';
import { runLiveVisits } from './live-visits.ts';
import { sendPastVisits } from './past-visits.ts';
import { oppositeTastes, sendOppositeTastes } from './opposite-tastes.ts';
import { demoViewers } from './viewers.ts';

/** Viewers at the same time; together they send three or four events per second. */
const maxAtATime = 5;

/**
 * Runs until the signal aborts and the last events are sent.
 *
 * @param onPastSent called once the viewers' past day has been sent
 */
export async function runViewers(
  { url, secretKey, publishableKey }: { url: string; secretKey: string; publishableKey: string },
  log: Logger,
  signal: AbortSignal,
  onPastSent: () => Promise<void>,
): Promise<void> {
  const access = { baseUrl: url, publishableKey };
  const past = async (signal: AbortSignal): Promise<void> => {
    await startExperiments({ url, secretKey }, signal);
    await untilProcessed({ url, secretKey }, signal, (processed, all) => {
      process.stdout.write(`  ${processed} of ${all} sample clips play\n`);
    });
    await sendPastVisits(access, demoViewers, signal);
    await endExperiment({ url, secretKey }, signal);
    await sendOppositeTastes(access, signal);
    process.stdout.write(
      `  ${demoViewers.length} simulated viewers watch. Their last day is in the reports:\n` +
        `    curl '${url}/v1/analytics/overview?granularity=hour' -H 'Authorization: Bearer ${secretKey}'\n\n` +
        `  Two experiments run and one has ended:\n    curl '${url}/v1/experiments' -H 'Authorization: Bearer ${secretKey}'\n\n` +
        `  Two viewers with opposite tastes, and why their feeds differ:\n` +
        oppositeTastes
          .map(
            ({ userId }) =>
              `    curl '${url}/v1/feed?explain=true&userId=${userId}' -H 'Authorization: Bearer ${secretKey}'\n`,
          )
          .join('') +
        '\n',
    );
    await onPastSent();
  };
  const groups = Array.from({ length: maxAtATime }, (_, group) =>
    demoViewers.filter((_viewer, index) => index % maxAtATime === group),
  );
  await Promise.all([
    keepRunning('past visits of the demo', past, log, signal),
    ...groups.map((viewers) =>
      keepRunning(
        'viewers of the demo',
        (signal) => runLiveVisits(access, viewers, signal),
        log,
        signal,
      ),
    ),
  ]);
}
