import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Client, type ClientConfig } from 'pg';

/** A statement is prepared once it has been sent this often, so one-off statements never are. */
const sentBefore = 5;
/** PostgreSQL keeps every prepared statement in each connection, so their number is bounded. */
const maxPrepared = 200;
const maxCounted = 2_000;

/**
 * A client class that prepares recurring statements, so that PostgreSQL does not parse and plan
 * them each time. The name is derived from the text, so it means the same on every connection.
 * Statements without parameters (`begin`, `commit`) are not prepared.
 *
 * @param connectionOf returns where a client connects to; called when the client is created
 */
export function preparingClient(
  nameOf: NameOf = nameStatements(),
  connectionOf: () => ClientConfig = () => ({}),
): typeof Client {
  return class PreparingClient extends Client {
    constructor(config?: string | ClientConfig) {
      super(typeof config === 'string' ? config : { ...config, ...connectionOf() });
    }

    // `query` has many forms. Only text with parameters is changed; the other forms pass through.
    override query: Client['query'] = (...args: unknown[]) => {
      const [text, values, ...rest] = args;
      const send = super.query.bind(this) as (...given: unknown[]) => never;
      if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0) {
        return send(...args);
      }
      const name = nameOf(text);
      return name === null ? send(...args) : send({ name, text, values }, ...rest);
    };
  };
}

/** Returns the name of a statement that is worth preparing, otherwise null. */
export type NameOf = (text: string) => string | null;

export function nameStatements(): NameOf {
  const names = new Map<string, string>();
  const counts = new LRUCache<string, number>({ max: maxCounted });
  return (text) => {
    const known = names.get(text);
    if (known !== undefined) return known;
    if (names.size >= maxPrepared) return null;
    const count = (counts.get(text) ?? 0) + 1;
    if (count <= sentBefore) {
      counts.set(text, count);
      return null;
    }
    counts.delete(text);
    const name = createHash('sha256').update(text).digest('base64url').slice(0, 22);
    names.set(text, name);
    return name;
  };
}
