/** How features declare the kinds of events that webhooks receive. */
import type { Static, TSchema } from 'typebox';
import type { Db } from '../../../platform/database/database.ts';
import { extensionPoint } from '../../../platform/extension-point.ts';

export type DeclaredEvent<Data extends TSchema = TSchema> = {
  readonly description: string;
  /** The schema of `data`. */
  readonly data: Data;
  /** Plainly made up; test sends use it. */
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

/** Features contribute the events here that they record, and add their types to `EventData`. */
export const webhookEvents = extensionPoint<EventTable>('webhook events');

/**
 * For kinds whose deliveries hold a reference in place of `data`: what it stands for is read for each
 * attempt, so that nothing of it is kept here. Null where the data is no reference: made-up data.
 */
export type DataAtSending = {
  readonly kind: string;
  readonly read: (db: Db, organizationId: string, stored: unknown) => Promise<object | null>;
};
export const dataAtSending = extensionPoint<DataAtSending>('webhook data at sending');

/** The types of `data` by the kind, for `EventData`. */
export type EventsOf<Table extends Readonly<Record<string, DeclaredEvent>>> = {
  [Kind in keyof Table]: Static<Table[Kind]['data']>;
};
