import { useRead, type Answer } from '../../data.ts';

export type Signal = Answer<'get', '/v1/ranking/signals'>['data'][number];

/** The signals of ranking; undefined until they are read. */
export function useSignals(): readonly Signal[] | undefined {
  return useRead('/v1/ranking/signals', {}).data?.data;
}
