/**
 * What the API description says about a call, as types: the paths that a method has, and for each its
 * parameters, body and answer. `api.generated.ts` is made from `docs/openapi.json`.
 */
import type { paths } from './api.generated.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have this method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];

type Operation<M extends Method, P extends PathOf<M>> =
  paths[P] extends Record<M, infer Found> ? Found : never;

type Parameters<O, Place extends string> = O extends { parameters: infer All }
  ? All extends { [Name in Place]?: infer Found }
    ? Exclude<Found, undefined>
    : never
  : never;

type JsonOf<Content> = Content extends { content: { 'application/json': infer Json } }
  ? Json
  : undefined;

type BodyOf<O> = O extends { requestBody?: infer Body } ? JsonOf<Exclude<Body, undefined>> : never;

/** The whole body of a success: `data`, and `meta` with the id of the request. */
export type Answer<M extends Method, P extends PathOf<M>> =
  Operation<M, P> extends { responses: infer Responses }
    ? JsonOf<Responses[keyof Responses & (200 | 201)]>
    : never;

/** Left out where a call has no such part, optional where nothing in it is required. */
type Part<Name extends string, Content> = [Content] extends [never]
  ? unknown
  : Content extends undefined
    ? unknown
    : object extends Content
      ? { readonly [N in Name]?: Content | undefined }
      : { readonly [N in Name]: Content };

export type CallOptions<M extends Method, P extends PathOf<M>> = Part<
  'path',
  Parameters<Operation<M, P>, 'path'>
> &
  Part<'query', Parameters<Operation<M, P>, 'query'>> &
  Part<'body', BodyOf<Operation<M, P>>> & {
    readonly signal?: AbortSignal | undefined;
    /** Made by the client when absent: one for a call, the same for all of its tries. */
    readonly idempotencyKey?: string | undefined;
    /** Further headers, such as `If-Match`. */
    readonly headers?: Readonly<Record<string, string>> | undefined;
  };

/** Options may be left out where every part is optional. */
export type CallArguments<M extends Method, P extends PathOf<M>> =
  object extends CallOptions<M, P> ? [options?: CallOptions<M, P>] : [options: CallOptions<M, P>];

type IsPage<Page> = Page extends { data: readonly unknown[]; meta: infer Meta }
  ? 'nextCursor' extends keyof Meta
    ? true
    : false
  : false;

/** The paths whose answers are pages with `meta.nextCursor`. */
export type ListPath = {
  [P in PathOf<'get'>]: IsPage<Answer<'get', P>> extends true ? P : never;
}[PathOf<'get'>];

export type ItemOf<P extends ListPath> =
  Answer<'get', P> extends { data: readonly (infer Item)[] } ? Item : never;
