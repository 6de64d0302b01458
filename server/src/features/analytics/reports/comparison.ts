/** The change in a metric compared with the previous period. */
type Comparison = {
  /** Relative, such as 0.25 for a quarter more. Null if the base is zero. */
  change: number | null;
  direction: 'up' | 'down' | 'flat';
};

/**
 * Compares each metric with its previous value. A rate missing in either period counts as flat.
 * Growth from zero has a direction but no ratio.
 */
export function compare<Name extends string>(
  now: Readonly<Record<Name, number | null>>,
  before: Readonly<Record<Name, number | null>>,
): Record<Name, Comparison> {
  const names = Object.keys(now) as Name[];
  return Object.fromEntries(
    names.map((name) => [name, compareOne(now[name], before[name])]),
  ) as Record<Name, Comparison>;
}

function compareOne(now: number | null, before: number | null): Comparison {
  if (now === null || before === null) return { change: null, direction: 'flat' };
  const direction = now > before ? 'up' : now < before ? 'down' : 'flat';
  return { change: before === 0 ? null : (now - before) / before, direction };
}
