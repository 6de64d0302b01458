import { Type } from 'typebox';
import { secretQuery } from '../../platform/http/secret-fields.ts';
import { Closed, OneOf } from '../../platform/http/schemas.ts';
import { ContentItem, NewContentMetadata } from '../content/content.ts';

export const maxItems = 100;

/** What an item of an import may say; one that breaks these rules fails alone. */
export const ImportItem = Closed({
  sourceUrl: Type.String({
    ...secretQuery,
    minLength: 1,
    maxLength: 2048,
    description: 'http or https, on a public address. At most 3 redirects are followed.',
  }),
  ...NewContentMetadata.properties,
});

const size = { minItems: 1, maxItems, 'x-error-code': 'LIMIT_EXCEEDED' } as const;

/** The shape alone, which is refused as a whole when it is wrong. */
export const NewImport = Closed({
  items: Type.Array(Type.Record(Type.String(), Type.Unknown()), size),
});

export const DescribedImport = Closed({ items: Type.Array(ImportItem, size) });

export const ImportResults = Type.Object({
  results: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0 }),
      status: OneOf(['created', 'existing', 'failed'] as const),
      item: Type.Optional(ContentItem),
      error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
    }),
    { description: 'In the order of the request. `existing`: the externalId has an item already.' },
  ),
  totalCreated: Type.Integer(),
  totalExisting: Type.Integer(),
  totalFailed: Type.Integer(),
});
