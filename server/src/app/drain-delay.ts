import { setTimeout as delay } from 'node:timers/promises';
import { countOtherServices, type Db } from '../platform/database/database.ts';
import type { Config } from './config.ts';

export const drainDelayBesideOthersMs = 10_000;
const findOthersTimeoutMs = 1_000;

/**
 * Time to keep serving after the stop signal. With several processes there is a load balancer,
 * which needs time to notice the change of `/readyz`.
 */
export async function drainDelayMs(config: Config, db: Db, ownName: string): Promise<number> {
  if (config.drainDelayMs !== null) return config.drainDelayMs;
  if (config.databaseUrl === null) return 0;
  // If the database does not respond, assume that there are other processes: a needless wait does
  // less harm.
  const others = await Promise.race([
    countOtherServices(db, ownName).catch(() => 1),
    delay(findOthersTimeoutMs, 1),
  ]);
  return others > 0 ? drainDelayBesideOthersMs : 0;
}
