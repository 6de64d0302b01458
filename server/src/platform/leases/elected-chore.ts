/**
 * A chore that one process does for the whole cluster. It runs when a process starts, so that a
 * restart takes effect immediately, and from then on about once per interval in the whole cluster.
 */
import { inTransaction, type Db } from '../database/database.ts';
import { every } from '../async/lifecycle.ts';
import { claimLeases, releaseLeases, takeOverLeases } from './leases.ts';

export type ElectedChore = {
  readonly name: string;
  readonly intervalMs: number;
  readonly run: (signal: AbortSignal) => Promise<unknown>;
};

/**
 * @param holderId a UUID of this process
 * @returns a loop for `background`. While the chore runs, the loop renews the lease, which lasts
 * for one interval. After a crash, another process therefore continues within two intervals
 */
export function electedLoop(
  db: Db,
  holderId: string,
  { name, intervalMs, run }: ElectedChore,
): (signal: AbortSignal) => Promise<void> {
  const claim = { names: [`chore ${name}`], holderId, leaseMs: intervalMs };
  let hasStarted = false;

  async function isOurTurn(): Promise<boolean> {
    if (hasStarted) {
      return (await claimLeases(db, claim)).length > 0;
    }
    await takeOverLeases(db, claim);
    hasStarted = true;
    return true;
  }

  async function tick(signal: AbortSignal): Promise<void> {
    if (!(await isOurTurn())) return;
    const renewal = setInterval(() => {
      // If a renewal fails, another process may start the chore as well, which is harmless.
      claimLeases(db, claim).catch(() => undefined);
    }, intervalMs / 3);
    try {
      await run(signal);
    } finally {
      clearInterval(renewal);
    }
  }

  return async (signal) => {
    await every(intervalMs, () => tick(signal), signal);
    await inTransaction(db, (tx) => releaseLeases(tx, claim)).catch(() => undefined);
  };
}
