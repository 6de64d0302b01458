/**
 * Records which organizations have people: devices that belong to a user and were also active
 * without one. That requires a link and an activity, which two projections write concurrently, so
 * each checks under a lock what the other has written.
 */
import type { Tx } from '../../../../platform/database/database.ts';
import type { Hash } from '../../statistics/viewer-key.ts';
import { insertPeople, lockPeople, selectOrganizationsWithPeople } from './people-queries.ts';

export type NewDevice = { readonly key: Hash; readonly organizationId: string };

export class PeopleNote {
  readonly #otherTable: 'viewer_link' | 'viewer_activity';
  /** Organizations already recorded. */
  readonly #noted = new Set<string>();

  /** @param otherTable the other projection's table with the same devices */
  constructor(otherTable: 'viewer_link' | 'viewer_activity') {
    this.#otherTable = otherTable;
  }

  /**
   * Call at the end of a pass with the rows it has added. From here on, other passes wait for a
   * lock until this one has committed.
   */
  async add(tx: Tx, devices: readonly NewDevice[]): Promise<void> {
    const unknown = devices.filter(({ organizationId }) => !this.#noted.has(organizationId));
    if (unknown.length === 0) return;
    const organizations = new Set(unknown.map(({ organizationId }) => organizationId));
    for (const noted of await selectOrganizationsWithPeople(tx, [...organizations])) {
      this.#noted.add(noted);
    }
    const open = unknown.filter(({ organizationId }) => !this.#noted.has(organizationId));
    if (open.length === 0) return;
    await lockPeople(tx);
    await insertPeople(tx, open, this.#otherTable);
  }

  forget(): void {
    this.#noted.clear();
  }
}
