/**
 * A projection is split into partitions, so that several processes can work on it. Each partition
 * has its own position in the log, which moves in the transaction that writes its rows, and a
 * process holds the lease of a partition for all projections.
 *
 * 1. The events of one organization are in one partition of a projection, unless the projection
 *    names a key by which they may be divided further. It may do so only if no two of its
 *    partitions do a read-modify-write on the same row: separate rows, sums, minima and maxima are
 *    safe.
 * 2. The partition of an event never changes: stored rows depend on the hash and the number of
 *    partitions.
 */

export const partitionCount = 16;

export const everyPartition: readonly number[] = Array.from(
  { length: partitionCount },
  (_, partition) => partition,
);

/** The partition of an organization, or of `key` within it. */
export function partitionOf(organizationId: string, key = ''): number {
  const hash = hashText(hashText(0x811c9dc5, organizationId), key);
  // The low bits of this hash depend on few characters.
  return (hash ^ (hash >>> 15)) & (partitionCount - 1);
}

/** 32-bit FNV-1a hash of the UTF-16 code units of a text. */
function hashText(start: number, text: string): number {
  let hash = start;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
