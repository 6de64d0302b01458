/** Schemas shared by the routes of all features. One schema provides validation, types and docs. */
import { Type, type TProperties, type TSchema } from 'typebox';

export function Nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** One of a fixed set of strings. */
export function OneOf<const T extends readonly string[]>(values: T, description?: string) {
  return Type.Unsafe<T[number]>({
    type: 'string',
    enum: [...values],
    ...(description === undefined ? {} : { description }),
  });
}

export const Timestamp = Type.String({
  format: 'date-time',
  maxLength: 40,
  description: 'RFC 3339 with an offset, such as 2026-01-31T12:00:00Z.',
  examples: ['2026-01-31T12:00:00.000Z'],
});

/** A request body or part of one. Rejects fields that the schema does not name. */
export function Closed<T extends TProperties>(
  properties: T,
  options: { description?: string; minProperties?: number } = {},
) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

const Meta = Type.Object({ requestId: Type.String() });
const ListMeta = Type.Object({
  requestId: Type.String(),
  total: Type.Integer({ description: 'Total number of items when the first page was read.' }),
  nextCursor: Nullable(Type.String()),
});

/** `{ data, meta: { requestId } }` */
export function Envelope<T extends TSchema>(data: T) {
  return Type.Object({ data, meta: Type.Optional(Meta) }, { description: 'The result.' });
}

/** `{ data: […], meta: { requestId, total, nextCursor } }` */
export function ListEnvelope<T extends TSchema>(item: T) {
  return Type.Object(
    { data: Type.Array(item), meta: Type.Object({ ...Type.Partial(ListMeta).properties }) },
    { description: 'A page of the list.' },
  );
}

/** The envelope of a failure with one of these codes. */
export function errorAnswer(codes: readonly string[]) {
  return Type.Object(
    {
      error: Type.Object({
        code: OneOf(codes),
        message: Type.String(),
        details: Type.Optional(
          Type.Array(Type.Object({ path: Type.String(), message: Type.String() })),
        ),
      }),
      meta: Meta,
    },
    { title: 'Error', description: 'The error; `details` lists each invalid field.' },
  );
}

/** A placeholder for every failure; the API description fills in the codes of all features. */
export const ErrorAnswer = errorAnswer([]);

type Answers<S extends Record<number, TSchema>> = S & {
  '4xx': typeof ErrorAnswer;
  '5xx': typeof ErrorAnswer;
};

/** The responses of a route: its successes, and the failure envelope for all other statuses. */
export function answers<const S extends Record<number, TSchema>>(successes: S): Answers<S> {
  return { ...successes, '4xx': ErrorAnswer, '5xx': ErrorAnswer };
}

export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 20,
      description: 'Maximum number of items per page.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description: '`meta.nextCursor` of the previous page.',
    }),
  ),
};

export const IdParams = Type.Object({ id: Type.String({ maxLength: 512 }) });
