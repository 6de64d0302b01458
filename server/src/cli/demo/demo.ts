/**
 * `npm run demo`: runs the service with a dozen generated clips and simulated viewers, in a
 * separate data directory.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { generateKey } from '../../features/keys/keys.ts';
import { createLogger } from '../../platform/logging/logging.ts';
import { runService } from '../../app/run.ts';
import type { Command } from '../command.ts';
import { uploadMissing } from './clip-uploads.ts';
import { addCollections } from './collections.ts';
import { broadcastOnce } from './live-stream.ts';
import { startDemoReceiver } from './receiver.ts';
import {
  addAlertsAndMetrics,
  addConfiguration,
  addExport,
  addRulesAndKeys,
  addWebhooks,
} from './showcase.ts';
import { runViewers } from './viewing.ts';

type DemoKeys = { secretKey: string; publishableKey: string };

export const demo: Command = async ({ env }) => {
  const dataDir = path.resolve(env['REELFEED_DATA_DIR'] ?? './data/demo');
  const keys = await loadKeys(dataDir);
  await using receiver = await startDemoReceiver();
  const allowed = env['REELFEED_EGRESS_ALLOW'];
  const settings = {
    ...env,
    REELFEED_EGRESS_ALLOW: allowed ? `${allowed},${receiver.host}` : receiver.host,
    REELFEED_DATA_DIR: dataDir,
    REELFEED_SECRET_KEY: keys.secretKey,
    REELFEED_PUBLISHABLE_KEY: keys.publishableKey,
    // The demo has few viewers, and people who try it do not wait for a week.
    REELFEED_EXPERIMENT_MIN_DAYS: env['REELFEED_EXPERIMENT_MIN_DAYS'] ?? '0',
    REELFEED_EXPERIMENT_MIN_UNITS: env['REELFEED_EXPERIMENT_MIN_UNITS'] ?? '10',
    REELFEED_EXPERIMENT_TUNED_TO: env['REELFEED_EXPERIMENT_TUNED_TO'] ?? '100',
    // There is no traffic to disturb yet, and people who try the demo wait for the clips.
    REELFEED_MEDIA_NICENESS: env['REELFEED_MEDIA_NICENESS'] ?? '0',
    REELFEED_LOG_LEVEL: env['REELFEED_LOG_LEVEL'] ?? 'warn',
  };
  await runService(settings, {
    playerKey: keys.publishableKey,
    consoleKey: keys.secretKey,
    async onReady({ listeningUrl: url, publicUrl }, { logLevel }, signal) {
      if (url === null) return;
      process.stdout.write(`  Secret key         ${keys.secretKey}\n`);
      process.stdout.write(`  Publishable key    ${keys.publishableKey}\n\n`);
      const access = { url, secretKey: keys.secretKey };
      const parts = { ...access, receiver: receiver.host };
      const log = createLogger(logLevel);
      try {
        await addWebhooks(parts, signal);
        await addConfiguration(parts, signal);
        await uploadMissing(access, path.join(dataDir, 'clips'), {
          onPlayable: () => process.stdout.write(`\n  The feed plays: ${publicUrl}/feed\n\n`),
          signal,
        });
        const fill = async (): Promise<void> => {
          await addCollections(url, keys.secretKey, signal);
          await addRulesAndKeys(parts, signal);
        };
        await Promise.all([
          fill(),
          runViewers({ url, ...keys }, log, signal, async () => {
            await addAlertsAndMetrics(parts, signal);
            await addExport(parts, signal);
            // If the port for live streams is taken, the demo runs without them.
            await broadcastOnce(access, signal).catch((error: unknown) => {
              if (!signal.aborted) log.warn({ err: error }, 'demo broadcast failed');
            });
          }),
        ]);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  });
};

/** The keys stay the same across starts, so the demo's URLs do too. */
async function loadKeys(dataDir: string): Promise<DemoKeys> {
  const file = path.join(dataDir, 'demo-keys.json');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  try {
    return JSON.parse(await readFile(file, 'utf8')) as DemoKeys;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const keys = { secretKey: generateKey('secret'), publishableKey: generateKey('publishable') };
  // Written to a temporary file first, because a crash must not leave half a file, which no later
  // start could read.
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, JSON.stringify(keys), { mode: 0o600 });
  await rename(draft, file);
  return keys;
}
