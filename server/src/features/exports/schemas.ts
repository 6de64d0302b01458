import { Type } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { compressions, datasets, exportStatuses, formats } from './tables.ts';

const day = (description: string) => Type.String({ description, examples: ['2026-01-31'] });

export const NewExport = Closed({
  dataset: OneOf(
    datasets,
    '`events`: as they were accepted, by the day on which they happened. `content`: items, by the ' +
      'day of their creation. `analytics`: the metrics of each item on each day.',
  ),
  startDate: day('First day (UTC).'),
  endDate: day('Last day (UTC), included; at most 366 days in all.'),
  format: OneOf(formats),
  compression: Type.Optional(
    OneOf(
      compressions,
      'Default: none. `gzip` compresses the whole file, or the pages of a Parquet file.',
    ),
  ),
});

export const Export = Type.Object(
  {
    id: Type.String({ examples: ['dex_01jd0000000000000000000000'] }),
    dataset: OneOf(datasets),
    startDate: Type.String(),
    endDate: Type.String(),
    format: OneOf(formats),
    compression: OneOf(compressions),
    status: OneOf(exportStatuses),
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

export const DownloadQuery = Closed({
  expires: Type.String({ maxLength: 20 }),
  signature: Type.String({ maxLength: 64 }),
});
