import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useReelfeed } from './context.ts';
import { FeedModel, firstState, type FeedOptions, type FeedState } from './feed-model.ts';

export type Feed = FeedState & {
  /** The model that views report to; null until the device's storage has been read. */
  readonly model: FeedModel | null;
};

/**
 * Loads a feed for as long as the component is mounted. Reloads when the options or the viewer
 * change. A custom view calls `model.show` for the current slide, and `model.measure` with its
 * player's state.
 */
export function useFeed(options: FeedOptions = {}): Feed {
  const context = useReelfeed();
  const [model, setModel] = useState<FeedModel | null>(null);
  const latest = useRef(options);
  latest.current = options;
  const { tags, section, author, country, start, entryPoint } = options;
  const wanted = JSON.stringify([tags, section, author, country, start, entryPoint]);
  useEffect(() => {
    const { connection } = context;
    if (connection === null) return undefined;
    const made = new FeedModel(connection, {
      ...latest.current,
      onEvent: (event) => latest.current.onEvent?.(event),
    });
    setModel(made);
    void made.open();
    return () => {
      made.close();
      setModel(null);
    };
  }, [context, wanted]);
  const subscribe = useCallback(
    (listener: () => void) => model?.subscribe(listener) ?? (() => {}),
    [model],
  );
  const state = useSyncExternalStore(
    subscribe,
    () => model?.state ?? firstState,
    () => firstState,
  );
  return { ...state, model };
}
