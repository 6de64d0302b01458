/** Descriptions of editorial rules. */
import type { ItemOf } from '../../data.ts';

export type Rule = ItemOf<'/v1/ranking/rules'>;

export function effectOf({ type, factor, position }: Rule): string {
  if (type === 'pin') return `pin to position ${(position ?? 0) + 1}`;
  return type === 'exclude' ? 'exclude' : `${type} by ${factor}`;
}
