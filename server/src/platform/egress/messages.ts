/** Types of outgoing requests and their responses. */
import type { IncomingHttpHeaders } from 'node:http';

export type Scheme = 'http:' | 'https:' | BrokerScheme;

/** Schemes of message brokers and of RTMP, which are reached through `Egress.resolve`. */
export type BrokerScheme = 'nats:' | 'tls:' | 'amqp:' | 'amqps:' | 'rtmp:' | 'rtmps:';

/** Presented to receivers that ask for a certificate. PEM. */
export type ClientCertificate = {
  /** Identifies the certificate; connections with different certificates are not shared. */
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
  /** From the call to the last byte of the response. */
  readonly totalTimeoutMs: number;
  /** Maximum bytes of the response body to read. */
  readonly maxBodyBytes: number;
  /**
   * Maximum bytes of it to keep; by default everything that is read. Reading a little more than is
   * kept pays off: closing a connection in the middle of a response costs the next request a
   * handshake.
   */
  readonly keptBodyBytes?: number;
  /**
   * Uses connections separate from those of other requests to the same origin. For receivers that
   * break connections.
   */
  readonly isApart?: boolean;
  /**
   * Called once a connection is ready, right before the first byte is sent. If it throws, nothing
   * is sent and the request rejects with that error.
   */
  readonly onBegin?: () => void;
  readonly clientCertificate?: ClientCertificate;
};

export type EgressResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The first `keptBodyBytes` as sent, without undoing a content encoding. */
  readonly body: Buffer;
  /** There was more than `maxBodyBytes`; the connection was closed instead of reading it. */
  readonly truncated: boolean;
  /** From the call to the end of the body. */
  readonly elapsedMs: number;
};
