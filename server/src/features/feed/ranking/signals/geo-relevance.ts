/** Where an item is meant for, as `customMetadata.geoTargeting` declares it; upper-case codes. */
export type GeoTargeting = {
  /** Null: everywhere. */
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[];
};

/** Plays by country, faded; of an item or of a whole organization. */
export type PlaysByCountry = {
  readonly total: number;
  readonly countries: ReadonlyMap<string, number>;
};

const neutral = 0.5;
/** So many plays with the organization's mix of countries are assumed of each item. */
const priorPlays = 20;

/** Whether an item may be shown in a country; where the country is not known, it may. */
export function mayBeShownIn(geo: GeoTargeting | null, country: string | null): boolean {
  return geo === null || country === null || !geo.exclude.includes(country);
}

/**
 * How relevant an item is where the viewer is, in [0, 1]. A declaration decides: 1 for a named
 * country, 0 for another one. Without one it is learned: lift / (1 + lift), where lift is the share
 * of the item's plays that come from the country over that share of all plays, smoothed. Neutral
 * where nothing is known.
 */
export function geoRelevance(
  geo: GeoTargeting | null,
  plays: PlaysByCountry | null,
  all: PlaysByCountry,
  country: string | null,
): number {
  if (country === null) return neutral;
  if (geo !== null && geo.include !== null) return geo.include.includes(country) ? 1 : 0;
  const usual = all.total > 0 ? (all.countries.get(country) ?? 0) / all.total : 0;
  if (plays === null || usual === 0) return neutral;
  const here = plays.countries.get(country) ?? 0;
  const share = (here + priorPlays * usual) / (plays.total + priorPlays);
  const lift = share / usual;
  return lift / (1 + lift);
}

const maxCountries = 250;

/** The declaration in an item's metadata; null when there is none or it has another form. */
export function readGeoTargeting(value: unknown): GeoTargeting | null {
  if (typeof value !== 'object' || value === null) return null;
  const { include, exclude } = value as { include?: unknown; exclude?: unknown };
  const included = readCountries(include);
  const excluded = readCountries(exclude) ?? [];
  return included === null && excluded.length === 0
    ? null
    : { include: included, exclude: excluded };
}

function readCountries(value: unknown): string[] | null {
  if (!Array.isArray(value)) return null;
  const countries = value
    .slice(0, maxCountries)
    .flatMap((one) => (typeof one === 'string' ? [one.toUpperCase()] : []));
  return countries.length === 0 ? null : countries;
}
