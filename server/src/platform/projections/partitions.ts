/**
 * A projection is split into partitions, so that several processes can work on it. Each partition has its
 * own position in the log, which it moves in the transaction that writes its rows, and a process holds
 * the lease of a partition for all projections.
 *
 * 1. The events of one organization are in one partition of a projection, unless the projection says by
 *    which key of an event they may be divided further. It may say so only if no two of its partitions
 *    read and write back the same row: rows of their own, sums, and greatest or least values are safe.
 * 2. Where an event belongs never changes: the hash and the number of partitions are part of what is
 *    stored.
 */

export const partitionCount = 16;

export const everyPartition: readonly number[] = Array.from(
  { length: partitionCount },
  (_, partition) => partition,
);

/** The partition of an organization, or of what `key` names within it. */
export function partitionOf(organizationId: string, key = ''): number {
  const hash = hashText(hashText(0x811c9dc5, organizationId), key);
  // The low bits of this hash depend on few characters.
  return (hash ^ (hash >>> 15)) & (partitionCount - 1);
}

/** FNV-1a of 32 bits, of the code units of a text. */
function hashText(start: number, text: string): number {
  let hash = start;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
