import { Type } from 'typebox';
import { Closed, Nullable, OneOf, pageQuery, Timestamp } from '../../platform/http/schemas.ts';
import {
  ContentPatch,
  contentTypes,
  publishStatuses,
  SearchText,
  uploadStatuses,
  visibilities,
} from '../content/content.ts';

/**
 * Maximum number of items in a request. A larger request is rejected as a whole with a separate
 * error code.
 */
const maxItems = 100;

const { title, description, tags, section, author, articleUrl, customMetadata } =
  ContentPatch.properties;
const { visibility, publishStatus, publishAt, expiresAt } = ContentPatch.properties;

/** The fields of an update. An item that breaks these rules fails individually. */
export const ItemPatch = Closed({
  title,
  description,
  tags,
  section,
  author,
  articleUrl,
  customMetadata,
  visibility,
  publishStatus,
  publishAt,
  expiresAt,
});

const Id = Type.String({ maxLength: 512, description: 'Id of a content item.' });
/** Accepts any value: an invalid one fails only its item; see `ItemPatch`. */
const anyValue = Type.Optional(Type.Unknown());

/** Only the outer shape. If it is wrong, the whole request is rejected. */
export const BulkUpdateItem = Closed(
  {
    id: Id,
    title: anyValue,
    description: anyValue,
    tags: anyValue,
    section: anyValue,
    author: anyValue,
    articleUrl: anyValue,
    customMetadata: anyValue,
    visibility: anyValue,
    publishStatus: anyValue,
    publishAt: anyValue,
    expiresAt: anyValue,
  },
  { minProperties: 2, description: 'An id and at least one field to change.' },
);

const ids = Type.Array(Id, {
  minItems: 1,
  maxItems: maxItems,
  'x-error-code': 'LIMIT_EXCEEDED',
  description: `At most ${maxItems}. A repeated id is processed and reported once.`,
});
const continueOnError = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      'false: stop at the first item that fails. Changes to earlier items are kept, and later items are ' +
      'neither changed nor counted. true: report failures and continue.',
  }),
);
const tagList = (about: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: 100,
      description: about,
    }),
  );
const addTags = tagList('Tags to add.');
const removeTags = tagList('Tags to remove after `addTags` is applied. A tag in both is removed.');

export const BulkUpdate = Closed({
  items: Type.Array(BulkUpdateItem, {
    minItems: 1,
    maxItems: maxItems,
    'x-error-code': 'LIMIT_EXCEEDED',
    description: 'Use a bulk job for more items.',
  }),
  continueOnError,
});
/** The body in the API description. Values that violate it fail their item, not the request. */
export const DescribedBulkUpdate = Closed({
  items: Type.Array(
    Closed(
      { id: Id, ...ItemPatch.properties },
      {
        minProperties: 2,
        description:
          'An id and at least one field to change. An invalid value fails only its item.',
      },
    ),
    { minItems: 1, maxItems: maxItems },
  ),
  continueOnError,
});
export const BulkDelete = Closed({ ids, continueOnError });
export const BulkTag = Closed({ ids, addTags, removeTags });
export const BulkVisibility = Closed({ ids, visibility: OneOf(visibilities) });

const Failure = Type.Object({
  id: Type.String(),
  error: Type.Object({
    code: OneOf(['NOT_FOUND', 'VALIDATION_ERROR'] as const),
    message: Type.String(),
  }),
});

function outcome<T extends ReturnType<typeof Type.Object>>(successful: T) {
  return Type.Object({
    successful: Type.Array(successful, {
      description: 'Results, in the order of the requested items.',
    }),
    failed: Type.Array(Failure),
    totalProcessed: Type.Integer(),
    totalSuccessful: Type.Integer(),
    totalFailed: Type.Integer(),
  });
}

const id = Type.String();
export const BulkUpdated = outcome(Type.Object({ id, status: Type.Literal('updated') }));
export const BulkDeleted = outcome(Type.Object({ id, status: Type.Literal('deleted') }));
export const BulkTagged = outcome(Type.Object({ id, tags: Type.Array(Type.String()) }));
export const BulkShown = outcome(Type.Object({ id, visibility: OneOf(visibilities) }));

export const bulkJobOperations = [
  'update',
  'delete',
  'tag',
  'visibility',
  'publish',
  'unpublish',
] as const;
const bulkJobStatuses = ['processing', 'complete', 'cancelled', 'failed'] as const;
const word = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));

export const BulkJobFilter = Closed(
  {
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 1,
        maxItems: 100,
        description: 'Items that have all of these tags.',
      }),
    ),
    contentType: Type.Optional(OneOf(contentTypes)),
    section: word,
    author: word,
    visibility: Type.Optional(OneOf(visibilities)),
    uploadStatus: Type.Optional(OneOf(uploadStatuses)),
    publishStatus: Type.Optional(OneOf(publishStatuses)),
    search: Type.Optional(SearchText),
    createdAfter: Type.Optional(Timestamp),
    createdBefore: Type.Optional(Timestamp),
    archived: Type.Optional(
      OneOf(
        ['false', 'true', 'only'] as const,
        'Only for deletions: exclude archived items, include them (the default), or delete only them.',
      ),
    ),
  },
  { minProperties: 1, description: 'All conditions must hold; at least one is needed.' },
);

export const BulkJobUpdate = Closed(
  {
    addTags,
    removeTags,
    title,
    description,
    section,
    author,
    visibility,
    publishStatus,
    publishAt,
    expiresAt,
  },
  { minProperties: 1 },
);

export const NewBulkJob = Closed({
  operation: OneOf(bulkJobOperations),
  filter: BulkJobFilter,
  update: Type.Optional(BulkJobUpdate),
  dryRun: Type.Optional(Type.Boolean({ description: 'Only return the number of matching items.' })),
});

const count = Type.Integer({ minimum: 0 });
const jobStart = {
  jobId: Type.String(),
  status: OneOf(bulkJobStatuses),
  totalItems: count,
  processedItems: count,
};

export const CreatedBulkJob = Type.Object({ ...jobStart, createdAt: Timestamp });
export const BulkJobPreview = Type.Object({
  dryRun: Type.Literal(true),
  operation: OneOf(bulkJobOperations),
  totalItems: count,
  sample: Type.Array(Type.Object({ id: Type.String(), title: Type.String() }), {
    description: 'Up to ten of the newest matching items.',
  }),
});
export const BulkJob = Type.Object(
  {
    ...jobStart,
    successfulItems: count,
    failedItems: count,
    createdAt: Timestamp,
    completedAt: Type.Optional(Timestamp),
  },
  { title: 'BulkJob' },
);
export const ListedBulkJob = Type.Object({
  ...BulkJob.properties,
  operation: OneOf(bulkJobOperations),
  filter: Type.Unknown(),
  update: Nullable(Type.Record(Type.String(), Type.Unknown())),
});
export const BulkJobFailure = Failure;

export const BulkJobListQuery = Closed({
  ...pageQuery,
  status: Type.Optional(OneOf(bulkJobStatuses)),
});
