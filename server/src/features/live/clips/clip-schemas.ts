import { Type } from 'typebox';
import { Closed, OneOf } from '../../../platform/http/schemas.ts';
import { ContentItem, NewContentMetadata } from '../../content/content.ts';

const maxClips = 20;
const maxSeconds = 24 * 3_600;

const { title, ...metadata } = NewContentMetadata.properties;

/** The fields of a clip; an invalid clip fails individually. */
export const Clip = Closed({
  startSec: Type.Number({
    minimum: 0,
    maximum: maxSeconds,
    description: 'Seconds from the start of the broadcast.',
  }),
  endSec: Type.Number({
    minimum: 0,
    maximum: maxSeconds,
    description: 'Seconds from the start of the broadcast, at most the length recorded so far.',
  }),
  title: Type.Optional({
    ...title,
    description: 'Default: the title of the stream followed by “(clip)”.',
  }),
  ...metadata,
});

const size = { minItems: 1, maxItems: maxClips, 'x-error-code': 'LIMIT_EXCEEDED' } as const;

/** The shape of the request; if it is wrong, the whole request is rejected. */
export const NewClips = Closed({
  clips: Type.Array(Type.Record(Type.String(), Type.Unknown()), size),
});

export const DescribedClips = Closed({ clips: Type.Array(Clip, size) });

export const ClipResults = Type.Object({
  results: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0 }),
      status: OneOf(['created', 'failed'] as const),
      item: Type.Optional(ContentItem),
      error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
    }),
    { description: 'Results, in the order of the requested clips.' },
  ),
  totalCreated: Type.Integer(),
  totalFailed: Type.Integer(),
});
