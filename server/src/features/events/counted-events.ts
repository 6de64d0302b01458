/** Filters out events that projections do not count: those of known bots, and of custom kinds. */
import type { LogBlock } from '../../platform/event-log/event-log.ts';
import type { EventProjection } from './engagement-log.ts';
import { isCustomKind } from './custom-kinds.ts';
import type { LoggedEvent } from './logged-event.ts';

/** The same projection, limited to the events that it counts. */
export function withoutUncounted(
  projection: EventProjection,
  { countsBots }: { readonly countsBots: boolean },
): EventProjection {
  const takesCustomKinds = projection.takesCustomKinds === true;
  if (takesCustomKinds && countsBots) return projection;
  const isLeftOut = ({ bot, event }: LoggedEvent) =>
    (bot === true && !countsBots) || (!takesCustomKinds && isCustomKind(event));
  const leaveOut = (block: LogBlock<LoggedEvent>): LogBlock<LoggedEvent> =>
    block.events.some(isLeftOut)
      ? { ...block, events: block.events.filter((event) => !isLeftOut(event)) }
      : block;
  return {
    ...projection,
    createWriter: () => {
      const writer = projection.createWriter();
      return {
        collect: (blocks) => writer.collect(blocks.map(leaveOut)),
        write: (tx, pass) => writer.write(tx, pass),
        forget: () => writer.forget(),
      };
    },
  };
}
