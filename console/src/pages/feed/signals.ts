import { useRead, type Answer } from '../../data.ts';

export type Signal = Answer<'get', '/v1/ranking/signals'>['data'][number];

/** The ranking signals; undefined until loaded. */
export function useSignals(): readonly Signal[] | undefined {
  return useRead('/v1/ranking/signals', {}).data?.data;
}
