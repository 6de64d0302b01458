/**
 * The tables in Kysely's format. Each feature adds its own in its `tables.ts`, by declaration
 * merging, and names them in its `feature.ts`; a test checks that only the owner runs SQL on a
 * table.
 */
import type { DefaultTimestamp } from './column-types.ts';

type SigningKeyTable = { name: string; secret: Buffer; created_at: DefaultTimestamp };

// An interface, because only interfaces merge.
// oxlint-disable-next-line typescript/consistent-type-definitions
export interface Tables {
  signing_key: SigningKeyTable;
}
