import { Type } from 'typebox';
import { Closed, Envelope } from '../../platform/http/schemas.ts';

export const maxEntries = 10;
const Id = Type.String({ maxLength: 512 });

const tooMany = { maxItems: maxEntries, 'x-error-code': 'LIMIT_EXCEEDED' } as const;

/** One of the two lists is required; checked in `carousels.ts`. */
export const AddVideos = Closed(
  {
    videos: Type.Optional(
      Type.Array(
        Closed({
          contentId: Id,
          position: Type.Optional(
            Type.Integer({ minimum: 0, maximum: maxEntries, description: 'Default: the end.' }),
          ),
        }),
        { minItems: 1, ...tooMany },
      ),
    ),
    contentIds: Type.Optional(Type.Array(Id, { minItems: 1, ...tooMany })),
  },
  { minProperties: 1 },
);

export const VideoOrder = Closed({
  entryIds: Type.Array(Id, { maxItems: 100, description: 'All entries, in their new order.' }),
});

export const ImageOrder = Closed({
  imageIds: Type.Array(Id, { maxItems: 100, description: 'All images, in their new order.' }),
});

export const Entry = Type.Object({
  id: Type.String({ format: 'uuid' }),
  contentId: Type.String({ format: 'uuid' }),
  position: Type.Integer({ minimum: 0 }),
});

export const EntryParams = Type.Object({ id: Id, entryId: Id });
export const ImageParams = Type.Object({ id: Id, imageId: Id });

export const Removed = Envelope(Type.Object({ id: Type.String(), deleted: Type.Literal(true) }));
