import { useEffect, useMemo, useRef, useState, type ReactElement, type ReactNode } from 'react';
import { AppState, Platform } from 'react-native';
import { openConnection, type Connection, type ConnectionOptions } from '../connection.ts';
import { ReelfeedPlace, type ReelfeedContext } from '../context.ts';
import { EventGate } from '../event-gate.ts';

export type ReelfeedProviderProps = Omit<ConnectionOptions, 'device' | 'baseUrl'> & {
  /** The service's address, such as `https://video.example.com`. */
  readonly baseUrl: string;
  readonly children?: ReactNode;
};

/**
 * Connects everything below it to one service. A new `baseUrl`, `publishableKey` or `storage`
 * reconnects; a new `userId` logs in or out. Invalid options, such as a secret key, throw during
 * rendering, to the next error boundary.
 */
export function ReelfeedProvider(props: ReelfeedProviderProps): ReactElement {
  const { baseUrl, publishableKey, storage, userId, userSignature, children } = props;
  const latest = useRef(props);
  latest.current = props;
  const gate = useMemo(() => new EventGate(), []);
  const [connection, setConnection] = useState<Connection | null>(null);
  const [context, setContext] = useState<ReelfeedContext>({ connection: null, gate });
  // Only one sender at a time may use the storage.
  const last = useRef<Promise<unknown>>(Promise.resolve());

  useEffect(() => {
    let isWanted = true;
    const opening = last.current.then(async () => {
      if (!isWanted) return null;
      const { children: _children, ...options } = latest.current;
      return openConnection({ ...options, device: deviceOf(Platform.OS) });
    });
    const fail = (error: unknown): void =>
      setConnection(() => {
        throw error;
      });
    opening.then((opened) => {
      if (isWanted) setConnection(opened);
    }, fail);
    last.current = opening.catch(() => null);
    return () => {
      isWanted = false;
      gate.close();
      setConnection(null);
      last.current = opening.then(
        (opened) => opened?.close(),
        () => null,
      );
    };
  }, [baseUrl, publishableKey, storage, gate]);

  useEffect(() => {
    if (connection !== null) {
      connection.identify(userId ?? null, userSignature);
      gate.open((event) => connection.track(event));
    }
    setContext({ connection, gate });
  }, [connection, userId, userSignature, gate]);

  useEffect(() => {
    if (connection === null) return undefined;
    const subscription = AppState.addEventListener('change', (state) => {
      if (state === 'active') return;
      void connection.save();
      // Without a response, the events stay in the storage.
      connection.flush().catch(() => {});
    });
    return () => subscription.remove();
  }, [connection]);

  return <ReelfeedPlace value={context}>{children}</ReelfeedPlace>;
}

function deviceOf(platform: string): 'ios' | 'android' | 'web' | undefined {
  return platform === 'ios' || platform === 'android' || platform === 'web' ? platform : undefined;
}
