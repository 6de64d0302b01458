/**
 * `nats://user:password@one:4222,two:4222/STREAM?replicas=3`: the JetStream that holds the event
 * log.
 */
import type { Parsed, Parser } from '../../settings/config-values.ts';

export type StreamUrl = {
  /** `host:port` of the initial servers. The rest of a cluster is discovered through them. */
  readonly servers: readonly string[];
  readonly isEncrypted: boolean;
  readonly user: string | null;
  readonly password: string | null;
  readonly stream: string;
  /** Null means three in a cluster and one on a single server. */
  readonly replicas: number | null;
};

const expected =
  'postgres, or nats://[user:password@]host:port[,host:port…][/STREAM][?replicas=1|3|5], or tls:// for TLS';
const defaultStream = 'REELFEED_EVENTS';
const form =
  /^(nats|tls):\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^/?@]+)(?:\/([A-Za-z0-9_-]{1,64})?)?(?:\?replicas=([135]))?$/;
const server = /^(?:\[[0-9a-f:]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/i;

/** Parses the setting; null means the log in PostgreSQL. */
export function streamUrl(): Parser<StreamUrl | null> {
  return (raw): Parsed<StreamUrl | null> => {
    if (raw === '' || raw === 'postgres') return { value: null };
    const [, scheme, user, password, hosts = '', stream, replicas] = form.exec(raw) ?? [];
    const servers = hosts.split(',');
    if (scheme === undefined || !servers.every((one) => server.test(one))) {
      return { problem: expected };
    }
    try {
      return {
        value: {
          servers,
          isEncrypted: scheme === 'tls',
          user: user === undefined || user === '' ? null : decodeURIComponent(user),
          password: password === undefined ? null : decodeURIComponent(password),
          stream: stream ?? defaultStream,
          replicas: replicas === undefined ? null : Number(replicas),
        },
      };
    } catch {
      return { problem: expected };
    }
  };
}
