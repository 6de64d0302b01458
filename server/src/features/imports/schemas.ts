import { Type } from 'typebox';
import { secretQuery } from '../../platform/http/secret-fields.ts';
import { Closed, Nullable, OneOf } from '../../platform/http/schemas.ts';
import { maxAltTextLength, maxEntries } from '../carousels/carousels.ts';
import { ContentItem, NewCarousel, NewContentMetadata } from '../content/content.ts';

const maxItems = 100;

const SourceUrl = Type.String({
  ...secretQuery,
  minLength: 1,
  maxLength: 2048,
  description:
    'An http or https URL on a public address, with at most 3 redirects; or s3://bucket/key in a bucket ' +
    'that the service allows.',
});

const ImageToImport = Closed({
  sourceUrl: SourceUrl,
  altText: Type.Optional(Type.String({ maxLength: maxAltTextLength })),
});

/** The fields of an import item; an invalid item fails individually. */
export const ImportItem = Closed({
  sourceUrl: Type.Optional(SourceUrl),
  images: Type.Optional(
    Type.Array(ImageToImport, {
      minItems: 1,
      maxItems: maxEntries,
      description: 'Instead of `sourceUrl`: the images of a carousel, in order.',
    }),
  ),
  contentType: Type.Optional(
    OneOf(
      ['video', 'carousel'] as const,
      'Must match the content: a carousel has `images`, a video does not.',
    ),
  ),
  ...NewContentMetadata.properties,
  autoScrollInterval: Type.Optional(NewCarousel.properties.autoScrollInterval),
});

const size = { minItems: 1, maxItems, 'x-error-code': 'LIMIT_EXCEEDED' } as const;

/** The shape of the request; if it is wrong, the whole request is rejected. */
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
    {
      description:
        'Results, in the order of the requested items. `existing`: an item with this externalId already exists.',
    },
  ),
  importId: Nullable(
    Type.String({
      description:
        'Import id in the webhook event `content.import.finished`; null if no item was created.',
    }),
  ),
  totalCreated: Type.Integer(),
  totalExisting: Type.Integer(),
  totalFailed: Type.Integer(),
});
