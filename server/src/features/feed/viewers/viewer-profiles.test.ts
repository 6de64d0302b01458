/** Proves the memory use of profiles, and that a login invalidates cached profiles. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import v8 from 'node:v8';
import vm from 'node:vm';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../../test/database.ts';
import { eventually } from '../../../../test/waiting.ts';
import { inTransaction } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { viewerKeyOf } from '../../analytics/analytics.ts';
import { ViewerSecrets } from '../../organizations/organizations.ts';
import { OrganizationIndex } from '../items/organization-index.ts';
import { emptyEncounter, writeEncounters } from './encounter.ts';
import { ViewerProfiles } from './viewer-profiles.ts';

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as () => void;

const organizationId: OrganizationId = 'org_01jd0000000000000000000000';
const viewers = 1_000;
const itemsEach = 100;
/** docs/ranking.md says about 9 KB. */
const bytesEach = 12_000;
const atOnce = 50;

test('1,000 viewers in memory take no more memory each than documented, and the oldest are evicted', async () => {
  const { db } = await openTestDatabase();
  await sql`insert into organization (organization_id, name, viewer_secret)
    values (${organizationId}, 'Test', ${Buffer.alloc(32, 7)}) on conflict do nothing`.execute(db);
  const secrets = new ViewerSecrets();
  const idsOf = (number: number) => ({ userId: `viewer-${number}` });
  const second = Math.floor(Date.now() / 1_000);
  const history = writeEncounters(
    Array.from({ length: itemsEach }, (_, index) => [
      index + 1,
      { ...emptyEncounter(), second: second - index, seenSecond: second - index, flags: 2 },
    ]),
  );
  const keys: (Buffer | null)[] = [];
  for (let number = 0; number < viewers; number += 1) {
    keys.push(await viewerKeyOf(db, secrets, organizationId, idsOf(number)));
  }
  await sql`insert into feed_viewer (viewer_key, organization_id, last_at, folded)
    select key, ${organizationId}, now(), ${history} from unnest(${keys}::bytea[]) as key`.execute(
    db,
  );
  const index = new OrganizationIndex(
    Array.from({ length: itemsEach }, (_, at) => ({
      organizationId,
      isMember: true,
      serialNumber: at + 1,
      contentId: `00000000-0000-7000-8000-${String(at).padStart(12, '0')}`,
      revision: 1,
      freshSinceMs: 0,
      publishAtMs: -Infinity,
      expiresAtMs: Infinity,
      contentType: 'video',
      section: null,
      author: `author-${at % 10}`,
      tags: [`tag-${at % 20}`],
      durationSeconds: 15,
      geo: null,
    })),
  );
  const usedBytes = () => {
    collectGarbage();
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const loadAll = async (profiles: ViewerProfiles, count = viewers) => {
    for (let from = 0; from < count; from += atOnce) {
      const loading = Array.from({ length: atOnce }, (_, at) =>
        profiles.load(organizationId, idsOf(from + at), index),
      );
      for (const profile of await Promise.all(loading)) {
        assert.equal(profile.size, itemsEach);
        assert.ok(profile.favourites.tags.length <= 8);
      }
    }
  };
  await loadAll(new ViewerProfiles(db), 100);
  const profiles = new ViewerProfiles(db);
  const before = usedBytes();
  await loadAll(profiles);
  const each = (usedBytes() - before) / viewers;
  assert.equal(profiles.sizes.profiles, viewers);
  assert.equal(profiles.sizes.encounters, viewers * itemsEach);
  assert.ok(each < bytesEach, `${Math.round(each)} bytes for a viewer`);

  const few = new ViewerProfiles(db, { profiles: 150, encounters: 10_000 });
  await loadAll(few, 200);
  assert.deepEqual(few.sizes, { profiles: 100, encounters: 10_000, fresh: 0 });
});

test('a login that arrives while a profile is being read is not lost', async () => {
  const { db } = await openTestDatabase();
  await sql`insert into organization (organization_id, name, viewer_secret)
    values (${organizationId}, 'Test', ${Buffer.alloc(32, 7)}) on conflict do nothing`.execute(db);
  const profiles = new ViewerProfiles(db);
  const index = new OrganizationIndex([]);
  const user = { userId: 'ada' };
  let loading: Promise<unknown> = Promise.resolve();
  await inTransaction(db, async (tx) => {
    await sql`lock table feed_viewer`.execute(tx);
    loading = profiles.load(organizationId, user, index);
    await eventually('the read to wait for the lock', async () => {
      const { rows } = await sql`
        select from pg_locks where not granted and relation = 'feed_viewer'::regclass`.execute(tx);
      return rows.length === 1 ? true : null;
    });
    profiles.link(organizationId, { ...user, deviceId: 'phone' }, Date.now());
  });
  await loading;
  assert.equal(profiles.find(organizationId, user), null);
  await profiles.load(organizationId, user, index);
  assert.notEqual(profiles.find(organizationId, user), null);
});
