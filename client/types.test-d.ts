/**
 * Proves, as it compiles in `npm run types`, which use of the client its types allow. A line after
 * `@ts-expect-error` that compiles is an error, too.
 */
import {
  createReelfeed,
  type EngagementEvent,
  type EventSender,
  type FeedItem,
  type FeedPage,
} from './src/client.ts';
import { createAdmin, type Answer, type ItemOf, type ListPath } from './src/server.ts';
import { createSessionAdmin } from './src/session.ts';
import type { assignVariant } from './src/assignment.ts';

/** Compiles only if both types are the same. */
type Same<A, B> =
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it compares the types
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- only the type is checked
function expectTrue<_Check extends true>(): void {}

const baseUrl = 'https://video.example.com';

export async function readsTheFeed(): Promise<void> {
  const client = createReelfeed({ baseUrl, publishableKey: 'rf_pk_a', device: 'ios' });
  const page = await client.feed({ limit: 5, tags: ['a'], cursor: null });
  expectTrue<Same<typeof page, FeedPage>>();
  for await (const item of client.feedItems()) expectTrue<Same<typeof item, FeedItem>>();
  createReelfeed({ baseUrl: new URL(baseUrl), publishableKey: 'a', userId: undefined });
  // @ts-expect-error -- a key is required
  createReelfeed({ baseUrl });
  // @ts-expect-error -- a secret key is none of its options
  createReelfeed({ baseUrl, secretKey: 'rf_sk_a' });
  // @ts-expect-error -- the devices are three
  createReelfeed({ baseUrl, publishableKey: 'a', device: 'tv' });
  // @ts-expect-error -- tags are a list
  await client.feed({ tags: 'a' });
  // @ts-expect-error -- a query has no such field
  await client.feed({ tag: ['a'] });
  // @ts-expect-error -- an item is asked for by its id
  await client.item();
  // @ts-expect-error -- an answer is not changed
  page.items = [];
  // @ts-expect-error -- a promise is no page
  void client.feed().items;
}

export function tracksEvents(sender: EventSender): void {
  const contentId = 'c';
  sender.track({ event: 'like', contentId });
  sender.track({ event: 'impression', contentId, data: { position: 0, viewId: 'v', own: 1 } });
  sender.track({ event: 'custom.purchase', data: { amount: 5 } });
  // @ts-expect-error -- a kind is one of the table, or custom
  sender.track({ event: 'purchase', contentId });
  // @ts-expect-error -- an impression has a position
  sender.track({ event: 'impression', contentId, data: {} });
  // @ts-expect-error -- an impression has data
  sender.track({ event: 'impression', contentId });
  // @ts-expect-error -- a like is of an item
  sender.track({ event: 'like' });
  // @ts-expect-error -- a position is a number
  sender.track({ event: 'impression', contentId, data: { position: '0' } });
  // @ts-expect-error -- a swipe says what was left
  const swipe: EngagementEvent = { event: 'swipe', contentId, data: { watchTimeOnFrom: 1 } };
  void swipe;
}

export async function callsTheApi(): Promise<void> {
  const admin = createAdmin({ baseUrl, secretKey: 'rf_sk_a' });
  const { data } = await admin.get('/v1/content/{id}', { path: { id: 'c' } });
  expectTrue<Same<(typeof data)['title'], string>>();
  expectTrue<Same<Answer<'get', '/v1/content/{id}'>['data'], typeof data>>();
  await admin.patch('/v1/content/{id}', {
    path: { id: 'c' },
    body: { title: 'A' },
    headers: { 'if-match': '"1"' },
  });
  await admin.get('/v1/organization');
  for await (const item of admin.each('/v1/content', { query: { limit: 10 } })) {
    expectTrue<Same<typeof item, ItemOf<'/v1/content'>>>();
  }
  expectTrue<'/v1/content' extends ListPath ? true : false>();
  expectTrue<'/v1/organization' extends ListPath ? false : true>();
  // @ts-expect-error -- there is no such path
  await admin.get('/v1/contents');
  // @ts-expect-error -- the path has a parameter
  await admin.get('/v1/content/{id}');
  // @ts-expect-error -- the parameter is called id
  await admin.get('/v1/content/{id}', { path: { contentId: 'c' } });
  // @ts-expect-error -- the path has no such method
  await admin.delete('/v1/organization');
  // @ts-expect-error -- the body is required
  await admin.post('/v1/webhooks');
  // @ts-expect-error -- a title is text
  await admin.patch('/v1/content/{id}', { path: { id: 'c' }, body: { title: 5 } });
  // @ts-expect-error -- an organization is no list
  admin.each('/v1/organization');
  // @ts-expect-error -- a publishable key is none of its options
  createAdmin({ baseUrl, publishableKey: 'rf_pk_a' });
  // @ts-expect-error -- a page of the service has no key
  createSessionAdmin({ baseUrl, secretKey: 'rf_sk_a' });
}

expectTrue<Same<ReturnType<typeof assignVariant>, string | null>>();
