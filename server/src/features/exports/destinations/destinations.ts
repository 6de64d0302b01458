/** Destinations of warehouse push: their configuration and schedule. */
import { Type } from 'typebox';
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import { EgressError } from '../../../platform/egress/egress-errors.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { ApiError, fieldError } from '../../../platform/http/errors.ts';
import { newTypeId, parseTypeId, type OrganizationId } from '../../../platform/values/ids.ts';
import { defineJob, doublingDelay } from '../../../platform/queue/job-definition.ts';
import {
  done,
  failed,
  handle,
  skipped,
  type HandledJob,
} from '../../../platform/queue/job-handler.ts';
import { enqueue } from '../../../platform/queue/queue.ts';
import { formatTimestamp } from '../../../platform/values/time.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import { readOrganizationClock } from '../../organizations/organizations.ts';
import type { ReportFilter } from '../../analytics/analytics.ts';
import type { DatasetParts } from '../datasets/dataset.ts';
import { OvertakenExportError } from '../export-attempt.ts';
import { readDay, readExportFilter } from '../exports.ts';
import type { Compression } from '../tables.ts';
import { BucketError, openDestinationBucket, type DestinationBucket } from './bucket.ts';
import {
  deleteDestinationRow,
  endBatch,
  findDestination,
  insertDestination,
  listDueDestinations,
  lockDestinations,
  noteDestinationFailure,
  postpone,
  type DestinationRow,
  type PushInterval,
} from './destination-queries.ts';
import { pushBatch, putSchema } from './push.ts';

export type NewDestination = {
  readonly bucket: string;
  readonly prefix?: string;
  readonly region?: string;
  readonly endpoint?: string;
  readonly pathStyle?: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly every: PushInterval;
  readonly compression?: Compression;
  readonly filter?: ReportFilter;
  readonly startDate?: string;
};

export type DestinationParts = DatasetParts & { readonly egress: Egress; readonly vault: Vault };

type Credentials = Pick<NewDestination, 'accessKeyId' | 'secretAccessKey'>;

const maxDestinations = 5;
const tryTimeoutMs = 20_000;

export const pushDestinationJob = defineJob({
  name: 'push-destination',
  payload: Type.Object({ destinationId: Type.String() }),
  timeoutMs: 6 * 3_600_000,
  retry: { maxAttempts: 8, delayMs: doublingDelay(5_000, 10 * 60_000) },
  concurrency: 1,
  onExhausted: (tx, { destinationId }) => postpone(tx, destinationId),
});

/**
 * Binds encrypted credentials to their destination, so that they cannot be decrypted for another
 * one.
 */
function credentialsContext(organizationId: string, destinationId: string): string {
  return `export destination ${organizationId} ${destinationId}`;
}

/**
 * Checks that the bucket can be written to by uploading the schema of the files.
 *
 * @throws ApiError VALIDATION_ERROR
 */
export async function tryDestination(egress: Egress, wanted: NewDestination): Promise<void> {
  const { endpoint } = wanted;
  if (endpoint !== undefined) {
    const url = await egress.checkUrl(endpoint).catch((error: unknown) => {
      if (!(error instanceof EgressError)) throw error;
      throw fieldError('endpoint', error.message);
    });
    if (url.pathname !== '/' || url.search !== '')
      throw fieldError('endpoint', 'must have no path');
  }
  const bucket = openDestinationBucket(egress, addressOf(wanted));
  const signal = AbortSignal.timeout(tryTimeoutMs);
  try {
    await putSchema(bucket, { prefix: wanted.prefix ?? '' }, signal);
  } catch (error) {
    if (signal.aborted) throw fieldError('bucket', 'did not respond in time');
    if (error instanceof BucketError) throw fieldError('bucket', error.message);
    throw error;
  }
}

function addressOf(wanted: NewDestination) {
  const { bucket, region = null, endpoint = null, accessKeyId, secretAccessKey } = wanted;
  const pathStyle = wanted.pathStyle ?? endpoint !== null;
  return { bucket, region, endpoint, pathStyle, accessKeyId, secretAccessKey };
}

/** @throws ApiError VALIDATION_ERROR, LIMIT_EXCEEDED */
export async function createDestination(
  tx: Tx,
  { eventLog, vault }: DestinationParts,
  organizationId: OrganizationId,
  wanted: NewDestination,
): Promise<DestinationRow> {
  const { prefix = '', every, compression = 'zstd', startDate } = wanted;
  const filter = readExportFilter('events', wanted.filter);
  const clock = await readOrganizationClock(tx, organizationId);
  const position =
    startDate === undefined
      ? await eventLog.end()
      : await eventLog.positionAt(clock.momentOf(readDay('startDate', startDate)));
  if ((await lockDestinations(tx, organizationId)) >= maxDestinations) {
    throw new ApiError('LIMIT_EXCEEDED', {
      message: `An organization can have at most ${maxDestinations} export destinations.`,
    });
  }
  const destinationId = newTypeId('dxd');
  const { bucket, region, endpoint, pathStyle, accessKeyId, secretAccessKey } = addressOf(wanted);
  return insertDestination(tx, {
    destination_id: destinationId,
    organization_id: organizationId,
    bucket,
    prefix,
    region,
    endpoint,
    path_style: pathStyle,
    credentials: vault.seal(
      JSON.stringify({ accessKeyId, secretAccessKey }),
      credentialsContext(organizationId, destinationId),
    ),
    every,
    compression,
    filter,
    time_zone: clock.timeZone,
    position,
  });
}

/** @throws ApiError NOT_FOUND */
export async function deleteDestination(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<string> {
  const destinationId = parseTypeId('dxd', id);
  const isGone =
    destinationId !== null && (await deleteDestinationRow(tx, organizationId, destinationId));
  if (!isGone)
    throw new ApiError('NOT_FOUND', { message: 'There is no export destination with this id.' });
  return destinationId;
}

/** A destination as presented by the API: without its credentials. */
export function presentDestination(row: DestinationRow) {
  return {
    id: row.destination_id,
    dataset: 'events' as const,
    bucket: row.bucket,
    prefix: row.prefix,
    region: row.region,
    endpoint: row.endpoint,
    pathStyle: row.path_style,
    every: row.every,
    compression: row.compression,
    filter: row.filter,
    timeZone: row.time_zone,
    status: row.until !== null ? ('pushing' as const) : ('waiting' as const),
    batches: row.number - 1,
    pushedRows: row.pushed_rows,
    pushedAt: formatTimestamp(row.pushed_at),
    nextPushAt: formatTimestamp(row.next_at),
    error: row.last_error,
    createdAt: formatTimestamp(row.created_at),
  };
}

/** Queues a push for every destination that is due. @param onQueued is called if there are any */
export async function queuePushes(db: Db, onQueued: () => void): Promise<void> {
  const due = await listDueDestinations(db);
  for (const { destination_id: destinationId, organization_id: organizationId } of due) {
    const options = { organizationId, uniqueKey: destinationId };
    await inTransaction(db, (tx) => enqueue(tx, pushDestinationJob, { destinationId }, options));
  }
  if (due.length > 0) onQueued();
}

export function pushHandler(parts: DestinationParts): HandledJob {
  const { db, egress, vault } = parts;
  return handle(pushDestinationJob, async ({ destinationId }, context) => {
    const row = await findDestination(db, destinationId);
    if (row === null) return skipped('the destination no longer exists');
    try {
      const pushed = await pushBatch(parts, openBucket(egress, vault, row), row, context.signal);
      if (pushed === null) return skipped('the destination no longer exists');
      await context.finish(async (tx) => {
        if (!(await endBatch(tx, pushed, pushed))) throw new OvertakenExportError();
      });
      return done;
    } catch (error) {
      if (!(error instanceof BucketError)) throw error;
      await noteDestinationFailure(db, destinationId, error.message);
      return failed(error.message, { retryable: true });
    }
  });
}

function openBucket(egress: Egress, vault: Vault, row: DestinationRow): DestinationBucket {
  const { bucket, region, endpoint, path_style: pathStyle } = row;
  const context = credentialsContext(row.organization_id, row.destination_id);
  const credentials = JSON.parse(vault.open(row.credentials, context)) as Credentials;
  const address = { bucket, region, endpoint, pathStyle, ...credentials };
  return openDestinationBucket(egress, address);
}
