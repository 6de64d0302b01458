import { Type } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { filterQuery } from '../analytics/analytics.ts';
import { compressions, datasets, exportStatuses, formats } from './tables.ts';

const day = (description: string) => Type.String({ description, examples: ['2026-01-31'] });

export const ExportFilter = Closed(filterQuery, {
  description: 'As in reports; which of them apply depends on the dataset.',
});

/** The dataset, format and filters of an export; schedules have the same fields. */
export const exportFields = {
  dataset: OneOf(
    datasets,
    '`events`: as they were accepted, by the day on which they happened. `viewers`: those who did ' +
      'anything, with what they did. `content`: items, by the day of their creation. `analytics`: ' +
      'the metrics of each item on each day. `experiments`: their variants with totals, by the day ' +
      'of the creation. `webhooks`: deliveries that have ended, by the day of their creation.',
  ),
  format: OneOf(formats),
  compression: Type.Optional(
    OneOf(
      compressions,
      'Default: none. `gzip` and `zstd` compress the whole file, or the pages of a Parquet file.',
    ),
  ),
  filter: Type.Optional(ExportFilter),
};

export const NewExport = Closed({
  ...exportFields,
  startDate: day('First day, in the time zone of the organization.'),
  endDate: day('Last day, included; at most 366 days in all.'),
});

export const Export = Type.Object(
  {
    id: Type.String({ examples: ['dex_01jd0000000000000000000000'] }),
    dataset: OneOf(datasets),
    startDate: Type.String(),
    endDate: Type.String(),
    format: OneOf(formats),
    compression: OneOf(compressions),
    filter: Type.Partial(ExportFilter),
    timeZone: Type.String({ description: 'Of the days, as it was when the export was asked for.' }),
    scheduleId: Nullable(Type.String({ description: 'The schedule that asked for it.' })),
    status: OneOf(exportStatuses),
    progress: Type.Number({ description: 'How much has been read, from 0 to 1.' }),
    rowCount: Nullable(Type.Integer({ description: 'Null until it is ready.' })),
    fileSize: Nullable(Type.Integer({ description: 'Bytes.' })),
    downloadUrl: Nullable(
      Type.String({
        description: 'Needs no key; valid until `expiresAt`. Null unless it is ready.',
      }),
    ),
    error: Nullable(Type.String({ description: 'Why it has failed.' })),
    createdAt: Timestamp,
    completedAt: Nullable(Timestamp),
    expiresAt: Nullable(Timestamp),
  },
  { title: 'Export' },
);

export const DeletedExport = Type.Object({ id: Type.String(), deleted: Type.Boolean() });

export const DatasetSchema = Type.Object(
  {
    dataset: OneOf(datasets),
    description: Type.String(),
    filters: Type.Array(Type.String(), { description: 'The fields of `filter` that apply.' }),
    columns: Type.Array(
      Type.Object({
        name: Type.String(),
        type: OneOf(
          ['string', 'integer', 'number', 'boolean', 'timestamp', 'json'] as const,
          'Timestamps are RFC 3339 in text formats; JSON is text in CSV. Any value may be absent.',
        ),
        description: Type.String(),
      }),
    ),
  },
  { title: 'ExportDataset' },
);

export const DownloadQuery = Closed({
  expires: Type.String({ maxLength: 20 }),
  signature: Type.String({ maxLength: 64 }),
});
