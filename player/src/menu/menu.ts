/** The menu of a slide, in a separate file that is fetched when a viewer opens the first one. */
import { type FeedItem } from '@reelfeed/client';
import { element } from '../page/dom.ts';
import { type MenuActions } from './menu-loader.ts';
import { canCast, canFill, canFloat, cast, fill, float } from './screens-of-device.ts';
import { type Texts } from '../texts.ts';

type Scope = 'item' | 'author' | 'tag';

type Parts = {
  readonly texts: Texts;
  readonly actions: MenuActions;
  /** Closes the menu. */
  readonly close: () => void;
};

/**
 * Items and creators that the viewer has rejected on this page, kept as long as the feed keeps the
 * item.
 */
const refused = new WeakMap<FeedItem, Set<Scope>>();
const reported = new WeakMap<FeedItem, string>();

const speeds = [0.5, 1, 1.5, 2];

export function fillMenu(menu: HTMLElement, item: FeedItem, parts: Parts): void {
  const { texts, actions } = parts;
  const video = actions.video();
  const refusal = (scope: Scope, name: string): HTMLElement => {
    const refuse = (): void => actions.refuse(scope, toggle(item, scope));
    return entry(name, closing(parts, refuse), refused.get(item)?.has(scope) ?? false);
  };
  menu.replaceChildren(
    refusal('item', texts.notInterested),
    ...(item.author === null ? [] : [refusal('author', texts.lessOfAuthor)]),
    ...(item.tags.length === 0 ? [] : [refusal('tag', texts.lessOfTags)]),
    reportEntry(menu, item, parts),
    ...(video === null ? [] : watching(video, item, parts)),
  );
}

/** A menu button; a toggle if `isPressed` is not null. */
function entry(name: string, act: () => void, isPressed: boolean | null = null): HTMLElement {
  const button = element('button', { type: 'button' }, name);
  if (isPressed !== null) button.setAttribute('aria-pressed', String(isPressed));
  button.addEventListener('click', act);
  return button;
}

function closing({ close }: Parts, act: () => void): () => void {
  return () => {
    close();
    act();
  };
}

/** Asks for the reason of a report, or reverses a report. */
function reportEntry(menu: HTMLElement, item: FeedItem, parts: Parts): HTMLElement {
  const { texts, actions } = parts;
  const given = reported.get(item);
  if (given !== undefined) {
    const takeBack = (): void => {
      reported.delete(item);
      actions.report(given, false);
    };
    return entry(texts.report, closing(parts, takeBack), true);
  }
  const report = (reason: string) => (): void => {
    reported.set(item, reason);
    actions.report(reason, true);
  };
  const ask = (): void => {
    const reasons = texts.reportReasons.map(([reason, name]) =>
      entry(name, closing(parts, report(reason))),
    );
    menu.replaceChildren(element('p', {}, texts.reportQuestion), ...reasons);
    reasons[0]?.focus();
  };
  return entry(texts.report, ask, false);
}

/** Playback options, as far as this browser supports them. */
function watching(video: HTMLVideoElement, item: FeedItem, parts: Parts): HTMLElement[] {
  const { texts, actions } = parts;
  const host = actions.host();
  const offer = (isOffered: boolean, name: string, act: () => void): HTMLElement[] =>
    isOffered ? [entry(name, closing(parts, act))] : [];
  return [
    ...(item.isLive ? [] : [speedRow(parts)]),
    volumeRow(parts),
    ...offer(canFloat(video), texts.pictureInPicture, () => float(video)),
    ...offer(canFill(host, video), texts.fullScreen, () => fill(host, video)),
    ...offer(canCast(video), texts.cast, () => cast(video)),
  ];
}

function speedRow({ texts, actions }: Parts): HTMLElement {
  const row = element('div', { className: 'choices' });
  row.setAttribute('role', 'group');
  row.setAttribute('aria-label', texts.speed);
  const draw = (): void => {
    for (const [index, button] of Array.from(row.children).entries()) {
      button.setAttribute('aria-pressed', String(speeds[index] === actions.speed));
    }
  };
  for (const speed of speeds) {
    const choose = (): void => {
      actions.speed = speed;
      draw();
    };
    row.append(entry(texts.speedOf(speed), choose));
  }
  draw();
  return element('div', { className: 'setting' }, element('span', {}, texts.speed), row);
}

function volumeRow({ texts, actions }: Parts): HTMLElement {
  const range = element('input', { type: 'range', min: '0', max: '100' });
  range.value = String(Math.round(actions.volume * 100));
  range.addEventListener('input', () => (actions.volume = Number(range.value) / 100));
  return element('label', { className: 'setting' }, element('span', {}, texts.volume), range);
}

/** @returns whether it is now rejected */
function toggle(item: FeedItem, scope: Scope): boolean {
  const all = refused.get(item) ?? new Set<Scope>();
  refused.set(item, all);
  const isSet = !all.delete(scope);
  if (isSet) all.add(scope);
  return isSet;
}
