/** Known bots, by their `User-Agent`, and leaving their events out of what is counted. */
import type { LogBlock } from '../../platform/event-log/event-log.ts';
import type { EventProjection } from './engagement-log.ts';
import type { LoggedEvent } from './logged-event.ts';

/**
 * Crawlers, link previews and checks of websites name themselves. Programs such as curl or an app's own
 * HTTP client are not bots, and neither is the phone maker Cubot.
 */
const knownBots =
  /(?<!cu)bot(?![a-z])|crawl|spider|slurp|facebookexternalhit|mediapartners|lighthouse|pagespeed|preview|pingdom|uptimerobot|site24x7|archiver/i;

/** Whether a `User-Agent` is that of a known bot. */
export function isKnownBot(userAgent: string | undefined): boolean {
  return userAgent !== undefined && knownBots.test(userAgent);
}

/** The same projection of a log without the events of known bots. */
export function withoutBots(projection: EventProjection): EventProjection {
  return {
    ...projection,
    createWriter: () => {
      const writer = projection.createWriter();
      return {
        collect: (blocks) => writer.collect(blocks.map(leaveOutBots)),
        write: (tx) => writer.write(tx),
        forget: () => writer.forget(),
      };
    },
  };
}

function leaveOutBots(block: LogBlock<LoggedEvent>): LogBlock<LoggedEvent> {
  if (!block.events.some(({ bot }) => bot === true)) return block;
  return { ...block, events: block.events.filter(({ bot }) => bot !== true) };
}
