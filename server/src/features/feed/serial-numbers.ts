/** Serial numbers of items never change. */
import { sql } from 'kysely';
import { textArray, uuidArray } from '../../platform/database/binary-arrays.ts';
import type { Tx } from '../../platform/database/database.ts';
import { contentItems } from '../content/content.ts';

const maxRememberedItems = 50_000;

/** Looks up serial numbers for a projection, and caches them between its passes. */
export class SerialNumbers {
  readonly #known = new Map<string, number>();

  /** The serial number of an item that was loaded, or undefined if it was permanently deleted. */
  of(contentId: string): number | undefined {
    return this.#known.get(contentId);
  }

  /** @param wanted items with their organizations */
  async load(tx: Tx, wanted: Iterable<readonly [contentId: string, organizationId: string]>) {
    if (this.#known.size > maxRememberedItems) this.#known.clear();
    const unknown = new Map<string, string>();
    for (const [contentId, organizationId] of wanted) {
      if (!this.#known.has(contentId)) unknown.set(contentId, organizationId);
    }
    if (unknown.size === 0) return;
    const { rows } = await sql<{ contentId: string; serialNumber: number }>`
      select wanted.content_id as "contentId", content.serial_number as "serialNumber"
      from unnest(${textArray([...unknown.values()])}::text[],
        ${uuidArray([...unknown.keys()])}::uuid[]) as wanted (organization_id, content_id)
      join ${contentItems} content on content.organization_id = wanted.organization_id
        and content.content_id = wanted.content_id
    `.execute(tx);
    for (const { contentId, serialNumber } of rows) this.#known.set(contentId, serialNumber);
  }

  /** Call it so that nothing is written for items that were permanently deleted. */
  clear(): void {
    this.#known.clear();
  }
}
