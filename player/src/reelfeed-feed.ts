/** Defines `<reelfeed-feed>` and `<reelfeed-player>` if there is a browser. */
import { ReelfeedFeed, ReelfeedPlayer } from './element.ts';

export { ReelfeedFeed, ReelfeedPlayer };

const elements = { 'reelfeed-feed': ReelfeedFeed, 'reelfeed-player': ReelfeedPlayer };
if ('customElements' in globalThis) {
  for (const [tag, element] of Object.entries(elements)) {
    if (customElements.get(tag) === undefined) customElements.define(tag, element);
  }
}
