import { createReelfeed, EventSender, localEventStorage, type Reelfeed } from '@reelfeed/client';
import { connectChrome, showNotice, showToast } from './chrome.ts';
import { find } from './dom.ts';
import { type FeedList } from './feed-list.ts';
import { listenToWheel } from './gestures.ts';
import { listenToKeys } from './keyboard.ts';
import { Likes } from './likes.ts';
import { Player } from './player.ts';
import { faultOf, hideScreen, showEmpty, showFailure, showKeyForm } from './screens.ts';
import { forgetKey, keepKey, stableId, takeKey } from './session.ts';
import { copyText, linkedItem } from './share.ts';
import { openStore } from './storage.ts';
import { strings } from './strings.ts';

/** While there is nothing to watch the feed is asked again, so that the first clip appears by itself. */
const emptyPollMs = 5000;

const tab = openStore('sessionStorage');
const device = openStore('localStorage');
const deviceId = stableId(device, 'device');
const sessionId = stableId(tab, 'session');
/** The page is served next to the API, at the root or below a path. */
const serviceUrl = new URL('.', location.href);
serviceUrl.search = '';
serviceUrl.hash = '';

let client: Reelfeed | null = null;
let events: EventSender | null = null;
let emptyTimer: ReturnType<typeof setTimeout> | undefined;

const player = new Player({
  root: find(document, '#feed', HTMLElement),
  likes: new Likes(device),
  sessionId,
  track: (event) => events?.track(event),
  client: () => {
    if (client === null) throw new Error('The feed was read before a key was known.');
    return client;
  },
  listChanged: onList,
});

connectChrome({ unmute: () => player.toggleMute(), step: (offset) => player.step(offset) });
listenToKeys(player);
listenToWheel(find(document, '#feed', HTMLElement), (offset) => player.step(offset));
document.addEventListener('visibilitychange', () => player.setHidden(document.hidden));
window.addEventListener('offline', () => showNetwork(player.list));
window.addEventListener('online', () => {
  showNetwork(player.list);
  void player.reconnect();
});
window.addEventListener('hashchange', () => void player.restart(linkedItem()));

const key = takeKey(tab);
if (key === null) askForKey(null);
else open(key);

function open(publishableKey: string): void {
  const fault = faultOf(publishableKey);
  if (fault !== null) {
    askForKey(fault);
    return;
  }
  client = createReelfeed({ baseUrl: serviceUrl, publishableKey, deviceId, device: 'web' });
  openEvents(publishableKey);
  hideScreen();
  void player.restart(linkedItem());
}

/** Events are sent with the key that the feed is read with. */
function openEvents(publishableKey: string): void {
  void events?.close();
  const storage = localEventStorage('reelfeed.events');
  events = new EventSender({ baseUrl: serviceUrl, publishableKey, deviceId, sessionId, storage });
}

function askForKey(problem: string | null): void {
  forgetKey(tab);
  player.list.stop();
  showKeyForm(problem, (publishableKey) => {
    keepKey(tab, publishableKey);
    open(publishableKey);
  });
}

/** Shows the screens and notices that belong to the state of the list. */
function onList(list: FeedList): void {
  clearTimeout(emptyTimer);
  showNetwork(list);
  const { phase } = list;
  if (list.slides.length > 0) {
    hideScreen();
    return;
  }
  if (phase.name === 'refused') onRefused(list);
  if (phase.name === 'ended') {
    showEmpty(serviceUrl.href, (command) => void copyCommand(command));
    emptyTimer = setTimeout(() => void player.restart(linkedItem()), emptyPollMs);
  }
}

function onRefused({ phase }: FeedList): void {
  if (phase.name !== 'refused') return;
  const { error } = phase;
  if (error.status === 401 || error.status === 403) {
    askForKey(strings.keyRefused(error.code, error.message));
    return;
  }
  const retry = (): void => {
    hideScreen();
    void player.restart(linkedItem());
  };
  showFailure(error, retry, () => askForKey(null));
}

function showNetwork({ phase }: FeedList): void {
  if (!navigator.onLine) showNotice(strings.offline);
  else if (phase.name === 'waiting') showNotice(strings.reconnecting);
  else if (phase.name === 'refused') showNotice(phase.error.message);
  else showNotice(null);
}

async function copyCommand(command: string): Promise<void> {
  showToast((await copyText(command)) ? strings.commandCopied : strings.linkFailed);
}
