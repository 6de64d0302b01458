import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { BenchService } from './service.ts';

/** The ids of all items. */
export async function readContentIds({ database }: BenchService): Promise<string[]> {
  const { rows } = await sql<{ content_id: string }>`
    select content_id from content`.execute(database.db);
  return rows.map((row) => row.content_id);
}

/** Gives viewers a history of some items each: watched, liked, or left at once. */
export async function sendHistories(
  service: BenchService,
  { contentIds, viewers, itemsEach }: { contentIds: string[]; viewers: number; itemsEach: number },
): Promise<string[]> {
  const userIds = Array.from({ length: viewers }, (_, index) => `viewer-${index}`);
  for (const userId of userIds) {
    const events = Array.from({ length: itemsEach }, (_, index) => {
      const contentId = contentIds[Math.floor(Math.random() * contentIds.length)] ?? '';
      const common = { contentId, userId, country: 'DE', eventId: randomUUID() };
      if (index % 5 === 0) return { ...common, event: 'like' };
      if (index % 2 === 0) return { ...common, event: 'playStart', data: { startupTime: 90 } };
      return { ...common, event: 'completion', data: { watchTime: 15, looped: false } };
    });
    for (let from = 0; from < events.length; from += 100) {
      await post(service, '/v1/events/batch', { events: events.slice(from, from + 100) });
    }
  }
  return userIds;
}

export async function post(
  { url, publishableKey }: BenchService,
  path: string,
  body: unknown,
): Promise<Response> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${publishableKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}
