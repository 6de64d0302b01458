/** Bodies whose data is read when they are sent. */
import type { Db } from '../../../platform/database/database.ts';
import type { ExtensionsOf } from '../../../platform/feature/extension-point.ts';
import { dataAtSending } from '../outbox/event-declarations.ts';
import type { BodyAtSending } from './attempt.ts';

/** Other bodies stay unchanged. A failed read fails the attempt, which is then retried. */
export function readBodies(db: Db, extensionsOf: ExtensionsOf): BodyAtSending {
  const readers = new Map(extensionsOf(dataAtSending).map((reader) => [reader.kind, reader]));
  return async (organizationId, { kind, body }) => {
    const reader = readers.get(kind);
    if (reader === undefined) return body;
    const stored = JSON.parse(body) as { readonly data: unknown };
    const data = await reader.read(db, organizationId, stored.data);
    return data === null ? body : JSON.stringify({ ...stored, data });
  };
}
