/** Declarations by which features define the kinds of events that webhooks receive. */
import type { Static, TSchema } from 'typebox';
import type { Db } from '../../../platform/database/database.ts';
import { extensionPoint } from '../../../platform/feature/extension-point.ts';

export type DeclaredEvent<Data extends TSchema = TSchema> = {
  readonly description: string;
  /** The schema of `data`. */
  readonly data: Data;
  /** Obviously fictitious data, used for test sends. */
  readonly example: Static<Data>;
};

export function webhookEvent<Data extends TSchema>(
  description: string,
  data: Data,
  example: Static<Data>,
): DeclaredEvent<Data> {
  return { description, data, example };
}

/** Events by their kind, such as `content.ready`. */
type EventTable = Readonly<Record<string, DeclaredEvent>>;

/** Features register the events that they record here, and add their types to `EventData`. */
export const webhookEvents = extensionPoint<EventTable>('webhook events');

/**
 * For kinds whose deliveries store a reference instead of `data`. The reference is resolved for
 * each attempt, so no copy is stored. Returns null if the data is not a reference, such as example
 * data.
 */
export type DataAtSending = {
  readonly kind: string;
  readonly read: (db: Db, organizationId: string, stored: unknown) => Promise<object | null>;
};
export const dataAtSending = extensionPoint<DataAtSending>('webhook data at sending');

/** The types of `data` by kind, for `EventData`. */
export type EventsOf<Table extends Readonly<Record<string, DeclaredEvent>>> = {
  [Kind in keyof Table]: Static<Table[Kind]['data']>;
};
