/**
 * The parts of a repository that a point-in-time restore of the embedded database needs: copies of
 * the server's files ("bases"), and the write-ahead log that follows them, in segments of 16 MB.
 * Both are stored under the server's system identifier, because segments of different servers share
 * names:
 *
 *   recovery/<system>/bases/<id>/cluster.zst   the files of one copy
 *   recovery/<system>/bases/<id>/base.json     written last
 *   recovery/<system>/wal/<segment>            the log; the last segment may be partial
 *   recovery/<system>/archive.json             how far the log reaches
 */
import { beginningOf } from '../manifest.ts';
import type { Repository } from '../repository.ts';

export type Base = {
  id: string;
  system: string;
  /** The version of the server, such as `18.4`. */
  postgres: string;
  version: string;
  timeline: number;
  /** The first segment needed to restore it. */
  firstSegment: string;
  startedAt: string;
  /** Any later point in time that the log covers can be restored. */
  completedAt: string;
  clusterBytes: number;
};

export type Archive = {
  system: string;
  timeline: number;
  /** The start of the current gapless archive. */
  since: string;
  /** Any point in time before this one can be restored. */
  coveredUntil: string;
  segmentBytes: number;
};

export const root = 'recovery';
export const baseKey = (system: string, id: string) => `${root}/${system}/bases/${id}/base.json`;
export const clusterKey = (system: string, id: string) =>
  `${root}/${system}/bases/${id}/cluster.zst`;
export const walKey = (system: string, segment: string) => `${root}/${system}/wal/${segment}`;
export const archiveKey = (system: string) => `${root}/${system}/archive.json`;

/** PostgreSQL's name for the segment that contains a log position. */
export function segmentName(timeline: number, lsn: bigint, segmentBytes: number): string {
  const number = lsn / BigInt(segmentBytes);
  const perFile = 0x1_0000_0000n / BigInt(segmentBytes);
  const hex = (value: bigint) => value.toString(16).toUpperCase().padStart(8, '0');
  return hex(BigInt(timeline)) + hex(number / perFile) + hex(number % perFile);
}

/** The number of a segment within its timeline. */
export function segmentNumber(name: string, segmentBytes: number): bigint {
  const perFile = 0x1_0000_0000n / BigInt(segmentBytes);
  return BigInt(`0x${name.slice(8, 16)}`) * perFile + BigInt(`0x${name.slice(16, 24)}`);
}

/** Parses a log position such as `0/16B3748`. */
export function parseLsn(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

/** All complete bases, oldest first. */
export async function listBases(repository: Repository): Promise<Base[]> {
  const bases: Base[] = [];
  for await (const { key } of repository.storage.list(root)) {
    if (!key.endsWith('/base.json')) continue;
    const base = await repository.readJson<Base>(key);
    if (base !== null) bases.push(base);
  }
  return bases.toSorted((a, b) => (a.completedAt < b.completedAt ? -1 : 1));
}

/** The names of the archived segments of one timeline from `first` on, in order. */
export async function listSegments(
  repository: Repository,
  { system, firstSegment }: Pick<Base, 'system' | 'firstSegment'>,
): Promise<string[]> {
  const names: string[] = [];
  for await (const { key } of repository.storage.list(`${root}/${system}/wal`)) {
    const name = key.split('/').at(-1) ?? '';
    const isOfTimeline = name.slice(0, 8) === firstSegment.slice(0, 8);
    if (isOfTimeline && name >= firstSegment) names.push(name);
  }
  return names.toSorted();
}

/**
 * Removes bases and segments that are not needed to restore any point in time within the last
 * `keptMs`. Keeps the newest base before that window, because the start of the window is restored
 * from it.
 */
export async function pruneRecovery(
  repository: Repository,
  keptMs: number,
  now: number,
): Promise<void> {
  const bases = await listBases(repository);
  const before = bases.filter(({ completedAt }) => Date.parse(completedAt) <= now - keptMs);
  const kept = keptMs === 0 ? [] : bases.slice(Math.max(0, before.length - 1));
  const { storage } = repository;
  for (const { system, id } of bases.filter((base) => !kept.includes(base))) {
    // The description goes first, so that a partially removed base does not look complete.
    await storage.remove(baseKey(system, id));
    await storage.remove(clusterKey(system, id));
  }
  for await (const { key, modifiedAt } of storage.list(root)) {
    const [, system = '', kind, name = ''] = key.split('/');
    const needing = kept.filter((base) => base.system === system);
    if (kind === 'wal') {
      const isNeeded = needing.some(
        ({ firstSegment }) => firstSegment.slice(0, 8) === name.slice(0, 8) && firstSegment <= name,
      );
      const isOld = modifiedAt.getTime() < now - Math.max(keptMs, unfinishedMs);
      if (!isNeeded && (isOld || needing.length > 0)) await storage.remove(key);
    }
    const isUnfinished =
      kind === 'bases' &&
      !kept.some(({ id }) => id === name) &&
      beginningOf(name) < now - unfinishedMs;
    if (isUnfinished) await storage.remove(key);
  }
}

/** A base without a description may still be being written. */
const unfinishedMs = 24 * 60 * 60_000;
