/**
 * Notes which organizations have people: a device that belongs to a user and has done something without
 * one. It takes a link and an activity, which two projections write at the same time, so each looks for
 * what the other has written, one after the other.
 */
import type { Tx } from '../../../../platform/database/database.ts';
import type { Hash } from '../../statistics/viewer-key.ts';
import { insertPeople, lockPeople, selectOrganizationsWithPeople } from './people-queries.ts';

export type NewDevice = { readonly key: Hash; readonly organizationId: string };

export class PeopleNote {
  readonly #otherTable: 'viewer_link' | 'viewer_activity';
  /** The organizations that are known to have people. */
  readonly #noted = new Set<string>();

  /** @param otherTable where the other projection's rows of the same devices are */
  constructor(otherTable: 'viewer_link' | 'viewer_activity') {
    this.#otherTable = otherTable;
  }

  /**
   * To be called at the end of a pass, with the rows that it has added: others wait at a lock from
   * here on until the pass has committed.
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
