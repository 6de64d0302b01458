/** Hooks for reading and changing data through the API. */
import type {
  Answer,
  CallArguments,
  CallOptions,
  components,
  ItemOf,
  ListPath,
  PathOf,
} from '@reelfeed/client/session';
import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { api, readTagged } from './api.ts';

export type Schemas = components['schemas'];
export type Item = Schemas['Content'];
export type { Answer, ItemOf, ListPath };

type ReadOptions<Data> = {
  /** Refetch interval in milliseconds; false refetches only after changes. */
  every?: number | false | ((data: Data | undefined) => number | false);
  enabled?: boolean;
};

/** Reads one resource. Previous data stays visible until the response arrives. */
export function useRead<P extends PathOf<'get'>>(
  path: P,
  call: CallOptions<'get', P>,
  { every = false, enabled = true }: ReadOptions<Answer<'get', P>> = {},
): UseQueryResult<Answer<'get', P>> {
  return useQuery({
    queryKey: [path, call],
    queryFn: ({ signal }) => {
      const options = [{ ...call, signal }] as unknown as CallArguments<'get', P>;
      return api.get(path, ...options);
    },
    placeholderData: keepPreviousData,
    enabled,
    refetchInterval: ({ state }) => (typeof every === 'function' ? every(state.data) : every),
  });
}

type Tagged<P extends PathOf<'get'>> = Answer<'get', P> & { tag: string | null };

/** Reads one resource by its address, with its `ETag`. */
export function useTagged<P extends PathOf<'get'>>(
  pattern: P,
  address: string,
  { every = false }: Pick<ReadOptions<Tagged<P>>, 'every'> = {},
): UseQueryResult<Tagged<P>> {
  return useQuery({
    queryKey: [pattern, address, 'tagged'],
    queryFn: ({ signal }) => readTagged<P>(address, signal),
    refetchInterval: ({ state }) => (typeof every === 'function' ? every(state.data) : every),
  });
}

/** The address of an item, archived or not. */
export const itemAddress = (id: string): string =>
  `/v1/content/${encodeURIComponent(id)}?archived=true`;

const rowsPerPage = 100;
/** A longer list is not refetched automatically, since that reads every page. */
const maxPagesToRepeat = 3;

/** The rows of a list read so far; `More` offers to read further ones with `fetchNextPage`. */
export type Rows<Row> = UseInfiniteQueryResult<readonly Row[]>;

/** Reads a list page by page. `every` is the refetch interval in milliseconds. */
export function useList<P extends ListPath>(
  path: P,
  call: CallOptions<'get', P> & { query?: object },
  {
    every = false,
  }: { every?: number | false | ((rows: readonly ItemOf<P>[]) => number | false) } = {},
): Rows<ItemOf<P>> {
  return useInfiniteQuery({
    queryKey: [path, call, 'list'],
    initialPageParam: '',
    queryFn: async ({ pageParam, signal }) => {
      const query = {
        limit: rowsPerPage,
        ...call.query,
        ...(pageParam !== '' && { cursor: pageParam }),
      };
      const options = [{ ...call, query, signal }] as unknown as CallArguments<'get', P>;
      const { data, meta } = (await api.get(path, ...options)) as unknown as Page<ItemOf<P>>;
      return { rows: data, next: meta.nextCursor ?? undefined };
    },
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) => pages.flatMap(({ rows }) => rows),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => {
      if (data === undefined || data.pages.length > maxPagesToRepeat) return false;
      return typeof every === 'function' ? every(data.pages.flatMap(({ rows }) => rows)) : every;
    },
  });
}

type Page<Row> = { data: readonly Row[]; meta: { nextCursor?: string | null } };

/** Runs a change, then refetches either everything visible or only what is opened next. */
export function useChange<Input = void, Output = unknown>(
  run: (input: Input) => Promise<Output>,
  { reads = 'active' }: { reads?: 'active' | 'none' } = {},
): UseMutationResult<Output, Error, Input> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: () => client.invalidateQueries({ refetchType: reads }),
  });
}
