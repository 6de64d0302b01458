import type { Db } from '../../platform/database/database.ts';
import { clockOf, type ZoneClock } from '../../platform/values/zone-clock.ts';
import { selectTimeZones } from './queries.ts';

const maxAgeMs = 1_000;
const maxOrganizations = 10_000;

/** The clocks by which organizations divide days, for code that can't wait for the database. */
export class OrganizationClocks {
  readonly #known = new Map<string, { clock: ZoneClock; readAt: number }>();

  /** @returns undefined until `load` has read it */
  of(organizationId: string): ZoneClock | undefined {
    return this.#known.get(organizationId)?.clock;
  }

  /** Loads clocks that are missing or older than a second. */
  async load(db: Db, organizationIds: Iterable<string>): Promise<void> {
    const now = Date.now();
    const wanted = [...organizationIds].filter((id) => {
      const readAt = this.#known.get(id)?.readAt;
      return readAt === undefined || now - readAt >= maxAgeMs;
    });
    if (wanted.length === 0) return;
    if (this.#known.size > maxOrganizations) this.#known.clear();
    for (const { organizationId, timeZone } of await selectTimeZones(db, wanted)) {
      this.#known.set(organizationId, { clock: clockOf(timeZone), readAt: now });
    }
  }
}

/** @throws {Error} if the organization does not exist */
export async function readOrganizationClock(db: Db, organizationId: string): Promise<ZoneClock> {
  const [row] = await selectTimeZones(db, [organizationId]);
  if (row === undefined) throw new Error(`there is no organization ${organizationId}`);
  return clockOf(row.timeZone);
}
