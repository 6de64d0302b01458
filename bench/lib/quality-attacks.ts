/** Measures what an attacker with only the publishable key can do to an item and to all others. */
import { randomUUID } from 'node:crypto';
import { call, send, type Tenant } from './quality-ours.ts';
import { median, type Row } from './report.ts';
import type { BenchService } from './service.ts';

type Standing = { readonly place: number; readonly engagement: number };

const attacks: Readonly<Record<string, (contentId: string) => object[]>> = {
  'one viewer, 3,000 impressions': (contentId) =>
    Array.from({ length: 3_000 }, () => ({
      ...eventOf('impression', contentId, 'mallory'),
      data: { position: 0 },
    })),
  'one viewer, 10,000 likes': (contentId) =>
    Array.from({ length: 10_000 }, () => eventOf('like', contentId, 'mallory')),
  '5,000 made-up viewers': (contentId) =>
    Array.from({ length: 5_000 }, (_, n) => [
      { ...eventOf('impression', contentId, `made-up-${n}`), data: { position: 0 } },
      eventOf('like', contentId, `made-up-${n}`),
    ]).flat(),
};

/** Counts are reloaded within half a minute. */
const settledMs = 45_000;

/** Attacks a mid-ranked item of a played world, one attack after another. */
export async function attackAll(service: BenchService, tenant: Tenant): Promise<Row[]> {
  const body = { exploration: 0 };
  await call(service, tenant.secretKey, '/v1/ranking/config', 'PUT', body);
  const rows: Row[] = [];
  for (const [name, make] of Object.entries(attacks)) {
    const before = await readStandings(service, tenant, name);
    const middle = [...before].find(([, { place }]) => place === Math.floor(before.size / 2));
    const [target = ''] = middle ?? [];
    await send(service, tenant, make(target));
    await new Promise((resolve) => setTimeout(resolve, settledMs));
    const after = await readStandings(service, tenant, name);
    const moved = Math.abs((after.get(target)?.place ?? 0) - (before.get(target)?.place ?? 0));
    const othersOf = (standings: ReadonlyMap<string, Standing>) =>
      median([...standings].filter(([id]) => id !== target).map(([, one]) => one.engagement));
    const [was, is] = [othersOf(before), othersOf(after)];
    const change = Math.abs(is - was) / Math.max(was, 1e-9);
    rows.push(
      {
        what: `attack: ${name}, places that the item moved`,
        figure: String(moved),
        limit: '≤ 3',
        kept: moved <= 3,
      },
      {
        what: `attack: ${name}, median signal of the others`,
        figure: `${was.toFixed(3)} → ${is.toFixed(3)}`,
        limit: '≤ 5 %',
        kept: change <= 0.05,
      },
    );
  }
  return rows;
}

/** The rank of each item for an unknown viewer, by score. */
async function readStandings(
  service: BenchService,
  { secretKey }: Tenant,
  name: string,
): Promise<Map<string, Standing>> {
  type Page = {
    data: { id: string; ranking: { score: number; signals: { engagement: number } } }[];
    meta: { nextCursor: string | null };
  };
  const items: Page['data'] = [];
  const path = `/v1/feed?limit=50&explain=true&userId=${encodeURIComponent(`stranger ${name}`)}`;
  for (let cursor: string | null = ''; cursor !== null;) {
    const from = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = (await call(service, secretKey, `${path}${from}`)) as Page;
    items.push(...page.data);
    cursor = page.meta.nextCursor;
  }
  const sorted = items.toSorted((a, b) => b.ranking.score - a.ranking.score);
  return new Map(
    sorted.map(({ id, ranking }, place) => [id, { place, engagement: ranking.signals.engagement }]),
  );
}

function eventOf(event: string, contentId: string, userId: string) {
  return { eventId: randomUUID(), event, contentId, userId };
}
