/** Reading and changing what the API has, as hooks. */
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
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { api } from './api.ts';

export type Schemas = components['schemas'];
export type Item = Schemas['Content'];
export type { Answer, ItemOf, ListPath };

type ReadOptions<Data> = {
  /** How often to read again, in milliseconds; false: only when something changes. */
  every?: number | false | ((data: Data | undefined) => number | false);
  enabled?: boolean;
};

/** Reads one resource. What was read before stays in view until the answer comes. */
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

/** Runs a change and reads everything in view again, or only what is opened next. */
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
