/** Types of outgoing requests and their responses. */
import type { IncomingHttpHeaders } from 'node:http';

export type Scheme = 'http:' | 'https:' | BrokerScheme;

/** Of message brokers and of RTMP, which are reached through `Egress.resolve`. */
export type BrokerScheme = 'nats:' | 'tls:' | 'amqp:' | 'amqps:' | 'rtmp:' | 'rtmps:';

/** Shown to receivers that ask for one. PEM. */
export type ClientCertificate = {
  /** Names the certificate; connections are not shared between two. */
  readonly id: string;
  readonly certificate: string;
  readonly key: string;
};

export type EgressRequest = {
  readonly url: string;
  /** Default `['https:']`. */
  readonly schemes?: readonly Scheme[];
  /** Default GET. */
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** From the call to the last byte of the answer, all of it included. */
  readonly totalTimeoutMs: number;
  /** Most bytes of the answer's body to read. */
  readonly maxBodyBytes: number;
  /**
   * Most bytes of it to keep, by default all that is read. A little more is worth reading even if nobody
   * wants it: a connection that is closed in mid-answer costs the next request a handshake.
   */
  readonly keptBodyBytes?: number;
  /**
   * Opens connections apart from those of other requests to the same origin, and reuses only such. For
   * receivers that break connections.
   */
  readonly isApart?: boolean;
  /**
   * Called when a connection is ready, right before the first byte is sent. When it throws, nothing
   * is sent and the request rejects with what was thrown.
   */
  readonly onBegin?: () => void;
  readonly clientCertificate?: ClientCertificate;
};

export type EgressResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The first `keptBodyBytes`, as sent: a content encoding is not undone. */
  readonly body: Buffer;
  /** There was more than `maxBodyBytes`; the connection was closed instead of reading it. */
  readonly truncated: boolean;
  /** From the call to the end of the body. */
  readonly elapsedMs: number;
};
