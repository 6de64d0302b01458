/**
 * Proves, as it compiles in `npm run types`, which use of the elements and components their types
 * allow. A line after `@ts-expect-error` that compiles is an error, too.
 */
import { createElement, createRef } from 'react';
import { ReelfeedFeed, ReelfeedPlayer, ReelfeedShelf } from './src/react.ts';
import type { ReelfeedEvent, ReelfeedItem, ReelfeedShelfElement } from './src/types.ts';
import type * as vue from './src/vue.ts';

/** Compiles only if both types are the same. */
type Same<A, B> =
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it compares the types
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- only the type is checked
function expectTrue<_Check extends true>(): void {}

const given = { src: 'https://video.example.com', publishableKey: 'rf_pk_a' };

export function elements(document: Document): void {
  const shelf = document.createElement('reelfeed-shelf');
  expectTrue<Same<typeof shelf, ReelfeedShelfElement>>();
  shelf.open('c');
  shelf.texts = { like: 'Like' };
  shelf.articleCard = ({ title, articleUrl }) => (articleUrl === null ? null : { title });
  shelf.addEventListener('reelfeed-slide', ({ detail }) => {
    expectTrue<Same<typeof detail, ReelfeedItem>>();
  });
  const feed = document.createElement('reelfeed-feed');
  // @ts-expect-error -- only a shelf opens a feed
  feed.open();
  // @ts-expect-error -- a text is text
  feed.texts = { like: 5 };
  // @ts-expect-error -- the player has no such text
  feed.texts = { nothing: 'Like' };
  // @ts-expect-error -- a permission is promised
  feed.getToken = () => ({ streamingUrl: null });
  // @ts-expect-error -- a card has a title
  feed.articleCard = () => ({ text: 'a' });
}

export function components(): void {
  const ref = createRef<ReelfeedShelfElement>();
  createElement(ReelfeedShelf, { ...given, ref, count: 5 });
  createElement(ReelfeedPlayer, { ...given, contentId: 'c', className: 'a' }, 'overlay');
  createElement(ReelfeedFeed, {
    ...given,
    axis: 'horizontal',
    tags: ['a'],
    onEvent: (event) => expectTrue<Same<typeof event, ReelfeedEvent>>(),
    onSlide: (item) => expectTrue<Same<typeof item, ReelfeedItem>>(),
  });
  // @ts-expect-error -- the address is required
  createElement(ReelfeedFeed, { publishableKey: 'rf_pk_a' });
  // @ts-expect-error -- a player plays one item
  createElement(ReelfeedPlayer, given);
  // @ts-expect-error -- a feed has no item
  createElement(ReelfeedFeed, { ...given, contentId: 'c' });
  // @ts-expect-error -- a count is a number
  createElement(ReelfeedShelf, { ...given, count: '5' });
  // @ts-expect-error -- there are two directions
  createElement(ReelfeedFeed, { ...given, axis: 'diagonal' });
  // @ts-expect-error -- tags are a list
  createElement(ReelfeedFeed, { ...given, tags: 'a' });
}

type Props<Component extends new () => { $props: object }> = InstanceType<Component>['$props'];

export const feedProps: Props<typeof vue.ReelfeedFeed> = {
  ...given,
  axis: 'vertical',
  start: 'c',
  onSlide: ({ title }) => void title.length,
};
export const playerProps: Props<typeof vue.ReelfeedPlayer> = { ...given, contentId: 'c' };
// @ts-expect-error -- the key is required
export const withoutKey: Props<typeof vue.ReelfeedFeed> = { src: given.src };
// @ts-expect-error -- a player plays one item
export const withoutItem: Props<typeof vue.ReelfeedPlayer> = given;
export const wrongCount: Props<typeof vue.ReelfeedShelf> = {
  ...given,
  // @ts-expect-error -- a count is a number
  count: '5',
};
export const wrongListener: Props<typeof vue.ReelfeedFeed> = {
  ...given,
  // @ts-expect-error -- the listener gets an item, not its id
  onSlide: (id: string) => void id,
};
