/** An experiment with exposures, for breakdowns by variant. */
import { sql } from 'kysely';
import { openDatabase } from '../../src/platform/database/database.ts';
import { atEnd, silentLog } from '../database.ts';
import { ViewerSecrets } from '../../src/features/organizations/organizations.ts';
import { viewerKeyOf } from '../../src/features/analytics/statistics/viewer-keys.ts';
import type { ReportService } from './reports.ts';

/**
 * Depends on the last digit of a viewer's number: 0 to 2 saw `control`, 3 saw `more`, 4 saw
 * `control` on a device whose user had seen `more`, 5 saw both. The others were not exposed.
 */
export function variantOf(viewer: string | null): string | null {
  const [kind, id = ''] = (viewer ?? '').split(' ');
  if (kind !== 'user' && kind !== 'device') return null;
  const digit = Number(id.at(-1));
  if (digit <= 2) return 'control';
  if (digit === 3) return 'more';
  return digit === 4 && kind === 'device' ? 'more' : null;
}

/** @returns the id of the experiment */
export async function insertExperiment(service: ReportService, viewers: number): Promise<string> {
  const { body } = await service.call('POST', '/v1/experiments', {
    body: {
      name: 'Break-downs',
      type: 'config',
      traffic: 1,
      metrics: ['watchTime'],
      variants: [
        { id: 'control', name: 'control', traffic: 0.5 },
        { id: 'more', name: 'more', traffic: 0.5, config: { 'player.preload': 3 } },
      ],
    },
  });
  const database = openDatabase({
    connection: service.connection,
    poolSize: 2,
    log: silentLog,
  });
  atEnd(() => database[Symbol.asyncDispose]());
  const { db } = database;
  const secrets = new ViewerSecrets();
  const keyOf = (ids: { userId?: string; deviceId?: string }) =>
    viewerKeyOf(db, secrets, service.organizationId, ids);
  const insert = async (
    key: Buffer | null,
    exposed: { variant: number; mergedInto?: Buffer | null; isCrossed?: boolean },
  ) => {
    const { variant, mergedInto = null, isCrossed = false } = exposed;
    await sql`
      insert into exposure
        (experiment_number, unit_key, variant, exposed_at, merged_into, is_crossed)
      select number, ${key}, ${variant}, now(), ${mergedInto}::bytea, ${isCrossed}
      from experiment where experiment_id = ${body.data.id}`.execute(db);
  };
  const person = await keyOf({ userId: 'somebody' });
  await insert(person, { variant: 1 });
  for (let number = 0; number < viewers; number += 1) {
    const digit = number % 10;
    const device = await keyOf({ deviceId: `device-${number}` });
    if (digit === 4) {
      await insert(device, { variant: 0, mergedInto: person });
    } else if (digit <= 5) {
      const exposed = { variant: digit <= 2 ? 0 : 1, isCrossed: digit === 5 };
      await insert(device, exposed);
      await insert(await keyOf({ userId: `user-${number}` }), exposed);
    }
  }
  return String(body.data.id);
}
