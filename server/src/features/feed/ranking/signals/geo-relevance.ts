/** The intended countries of an item, from `customMetadata.geoTargeting`; upper-case codes. */
export type GeoTargeting = {
  /** Null means everywhere. */
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[];
};

/** Faded plays by country, of an item or of a whole organization. */
export type PlaysByCountry = {
  readonly total: number;
  readonly countries: ReadonlyMap<string, number>;
};

const neutral = 0.5;
/** Weight of the prior, in plays with the organization's mix of countries. */
const priorPlays = 20;

/** Whether an item may be shown in a country. Always true if the country is unknown. */
export function mayBeShownIn(geo: GeoTargeting | null, country: string | null): boolean {
  return geo === null || country === null || !geo.exclude.includes(country);
}

/**
 * The relevance of an item to the viewer's country, in [0, 1]. A declaration decides: 1 for a
 * listed country, 0 for any other. Without one it is learned as lift / (1 + lift), where lift is
 * the country's share of the item's plays divided by its share of all plays, smoothed. Neutral if
 * nothing is known.
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

/** The declaration in an item's metadata, or null if there is none or it is malformed. */
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
