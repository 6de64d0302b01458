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
    '`events`: events as accepted, by the day on which they happened. `viewers`: active viewers and ' +
      'their activity. `content`: items by creation day. `analytics`: ' +
      'the metrics of each item for each day. `experiments`: variants with totals, by creation day. ' +
      '`webhooks`: finished deliveries by creation day.',
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

export const NewExportBody = Closed({
  ...exportFields,
  startDate: day('First day, in the time zone of the organization.'),
  endDate: day('Last day, inclusive. The range is at most 366 days.'),
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
    timeZone: Type.String({
      description: 'Time zone that divides the days, as it was when the export was requested.',
    }),
    scheduleId: Nullable(Type.String({ description: 'Schedule that requested the export.' })),
    status: OneOf(exportStatuses),
    progress: Type.Number({ description: 'Progress from 0 to 1.' }),
    rowCount: Nullable(Type.Integer({ description: 'Null until it is ready.' })),
    fileSize: Nullable(Type.Integer({ description: 'Bytes.' })),
    downloadUrl: Nullable(
      Type.String({
        description: 'Requires no key; valid until `expiresAt`. Null unless the export is ready.',
      }),
    ),
    error: Nullable(Type.String({ description: 'Why the export failed.' })),
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
    filters: Type.Array(Type.String(), {
      description: 'The fields of `filter` that apply to the dataset.',
    }),
    columns: Type.Array(
      Type.Object({
        name: Type.String(),
        type: OneOf(
          ['string', 'integer', 'number', 'boolean', 'timestamp', 'json'] as const,
          'In text formats, timestamps are RFC 3339. In CSV, JSON is text. Any value may be missing.',
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
