import { webAddress, type Slide } from '@reelfeed/client/playing';
import { type Conditions } from '../playback/conditions.ts';
import { listenToTaps } from './gestures.ts';
import { ItemView, type SlideActions } from '../slide/item-view.ts';
import { type PlaybackSource } from '../playback/playback.ts';
import { type PlayerOptions } from './player-options.ts';
import { type Reactions } from './reactions.ts';

/** On slower connections, the small thumbnail is used. */
const slowLineBps = 4_000_000;

type SlideViewParts = {
  readonly options: PlayerOptions;
  readonly actions: SlideActions;
  readonly reactions: Reactions;
  readonly conditions: Conditions;
};

/** Draws a slide with the viewer's reactions, and requests the addresses of protected pictures. */
export function makeSlideView(
  article: HTMLElement,
  slide: Slide,
  { options, actions, reactions, conditions }: SlideViewParts,
): ItemView {
  const { texts, slideTemplate: template, permissions } = options;
  const articleCard = options.articleCard();
  const lineBps = conditions.measuredBps ?? conditions.guessLine();
  const savesBytes = lineBps !== null && lineBps < slowLineBps;
  const view = new ItemView(article, slide, { actions, template, texts, articleCard, savesBytes });
  reactions.draw(view);
  if (view.pictures !== null && slide.item.protected) {
    permissions.of(slide.item).then(
      (permission) => view.permit(permission),
      () => view.showRefusal(),
    );
  }
  listenToTaps(
    view.surface,
    () => actions.togglePlay(),
    () => reactions.like(view),
  );
  return view;
}

/** The video element of a slide, or null if there is no slide or it has no video. */
export function sourceOf(
  view: ItemView | null,
  permissions: PlayerOptions['permissions'],
): PlaybackSource | null {
  if (view === null) return null;
  const { item, media, id } = view.slide;
  if (media.kind !== 'video') return null;
  const { url } = media;
  const address = async (): Promise<string> => url ?? permittedUrl(permissions, view);
  return { id, isBroadcast: item.isLive, address, view };
}

/** Returns the current URL of a protected clip. Throws if access is denied. */
async function permittedUrl(
  permissions: PlayerOptions['permissions'],
  view: ItemView,
): Promise<string> {
  const permission = await permissions.of(view.slide.item);
  const url = webAddress(permission.streamingUrl);
  if (url === null) throw new Error('The playback token has no streaming URL.');
  view.permit(permission);
  return url;
}
