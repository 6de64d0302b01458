/**
 * This browser's uploads across all pages, sent one after another.
 *
 *   waiting → sending → done
 *                ↓ ↑ continue, with the file
 *             stopped (by hand, by an error, or by a reload)
 *
 * 1. The browser remembers unfinished uploads by their address. After a reload, choosing the same
 *    file continues at the byte that the service has.
 * 2. An upload is forgotten when it is done, discarded, or unknown to the service.
 */
import { ReelfeedError, upload } from '@reelfeed/client/session';
import { useSyncExternalStore } from 'react';
import { api, ownAddress } from './api.ts';
import { busyWith } from './busy.ts';

export type Upload = {
  readonly key: string;
  readonly name: string;
  readonly sizeBytes: number;
  readonly sentBytes: number;
  readonly state: 'waiting' | 'sending' | 'stopped' | 'done';
  readonly error: string | null;
  /** Bytes per second over the last seconds, or null while unknown. */
  readonly speed: number | null;
  /** The new item's id, or null until the upload has been opened. */
  readonly itemId: string | null;
  /** Null after a reload, until the file is chosen again. */
  readonly file: File | null;
  readonly uploadUrl: string | null;
};

type Remembered = Pick<Upload, 'name' | 'sizeBytes' | 'sentBytes' | 'itemId' | 'uploadUrl'>;

const storageKey = 'reelfeed.console.uploads';
const maxRemembered = 100;
/** Time window of the speed. */
const speedWindowMs = 8_000;

const keyOf = ({ name, size, lastModified }: File) => `${name} ${size} ${lastModified}`;

let uploads: readonly Upload[] = recall();
let sending: { key: string; stop: AbortController } | null = null;
const listeners = new Set<() => void>();
const finished = new Set<() => void>();

export const useUploads = (): readonly Upload[] => useSyncExternalStore(listen, () => uploads);

/** Calls back whenever an upload ends, successfully or not. */
export function onUploadEnd(call: () => void): () => void {
  finished.add(call);
  return () => finished.delete(call);
}

/** Adds files; one that was started before continues where it stopped. */
export function addFiles(files: readonly File[]): void {
  for (const file of files) {
    const key = keyOf(file);
    const known = uploads.find((one) => one.key === key);
    if (known === undefined || known.state === 'done') {
      const fresh = { key, name: file.name, sizeBytes: file.size, sentBytes: 0, speed: null };
      const rest = { state: 'waiting', error: null, itemId: null, file, uploadUrl: null } as const;
      change([...uploads.filter((one) => one !== known), { ...fresh, ...rest }]);
    } else if (known.state === 'stopped') {
      update(key, { file, state: 'waiting', error: null });
    }
  }
  void sendNext();
}

export function goOn(key: string): void {
  update(key, { state: 'waiting', error: null });
  void sendNext();
}

/** Pauses an upload; the service keeps what was sent for a while, so that it can continue. */
export function stop(key: string): void {
  if (sending?.key === key) sending.stop.abort();
  update(key, { state: 'stopped', speed: null });
}

/** Forgets an upload and archives its item. */
export async function discard(key: string): Promise<void> {
  stop(key);
  const one = uploads.find((each) => each.key === key);
  change(uploads.filter((each) => each.key !== key));
  if (one?.itemId != null && one.state !== 'done') {
    await api.delete('/v1/content/{id}', { path: { id: one.itemId } }).catch(() => {});
  }
  for (const call of finished) call();
}

export function clearDone(): void {
  change(uploads.filter(({ state }) => state !== 'done'));
}

async function sendNext(): Promise<void> {
  const next = uploads.find(({ state }) => state === 'waiting');
  if (sending !== null || next === undefined || next.file === null) return;
  const aborted = new AbortController();
  sending = { key: next.key, stop: aborted };
  update(next.key, { state: 'sending' });
  try {
    await busyWith(send(next, next.file, aborted.signal));
    update(next.key, { state: 'done', speed: null, sentBytes: next.sizeBytes });
  } catch (error) {
    const text = aborted.signal.aborted ? null : (error as Error).message;
    update(next.key, { state: 'stopped', speed: null, error: text });
  } finally {
    sending = null;
  }
  for (const call of finished) call();
  await sendNext();
}

async function send(one: Upload, file: File, signal: AbortSignal): Promise<void> {
  const wasOpened = one.uploadUrl !== null;
  const uploadUrl = ownAddress(one.uploadUrl ?? (await open(one.key, file, signal)));
  const seen: { atMs: number; sentBytes: number }[] = [];
  const onProgress = ({ sentBytes }: { sentBytes: number }) => {
    const nowMs = performance.now();
    seen.push({ atMs: nowMs, sentBytes });
    while (seen.length > 2 && (seen[0]?.atMs ?? 0) < nowMs - speedWindowMs) seen.shift();
    const first = seen[0];
    const elapsedS = first === undefined ? 0 : (nowMs - first.atMs) / 1_000;
    const speed = elapsedS > 0 ? (sentBytes - (first?.sentBytes ?? 0)) / elapsedS : null;
    update(one.key, { sentBytes, speed });
  };
  try {
    await upload(file, { uploadUrl, onProgress, signal });
  } catch (error) {
    const isOver =
      error instanceof ReelfeedError && error.status !== null && !error.isTransient && wasOpened;
    if (!isOver || error.status !== 404) throw error;
    // The upload has expired, or its item was deleted: start a new one.
    update(one.key, { uploadUrl: null, itemId: null, sentBytes: 0 });
    await send({ ...one, uploadUrl: null }, file, signal);
  }
}

async function open(key: string, file: File, signal: AbortSignal): Promise<string> {
  const title = file.name.replace(/\.[^.]+$/, '').slice(0, 200) || 'Untitled';
  const { data } = await api.post('/v1/content/upload', { body: { title }, signal });
  const uploadUrl = data.uploadUrl ?? '';
  update(key, { uploadUrl, itemId: data.id });
  for (const call of finished) call();
  return uploadUrl;
}

function update(key: string, changes: Partial<Upload>): void {
  change(uploads.map((one) => (one.key === key ? { ...one, ...changes } : one)));
}

function change(next: readonly Upload[]): void {
  uploads = next;
  remember();
  for (const listener of listeners) listener();
}

function listen(onChange: () => void): () => void {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
}

function remember(): void {
  const open = uploads.filter(({ state, uploadUrl }) => state !== 'done' && uploadUrl !== null);
  const entries = open.slice(-maxRemembered).map((one): [string, Remembered] => {
    const { name, sizeBytes, sentBytes, itemId, uploadUrl } = one;
    return [one.key, { name, sizeBytes, sentBytes, itemId, uploadUrl }];
  });
  try {
    localStorage.setItem(storageKey, JSON.stringify(entries));
  } catch {
    // Without storage, a reload restarts uploads.
  }
}

function recall(): Upload[] {
  try {
    const entries = JSON.parse(localStorage.getItem(storageKey) ?? '[]') as [string, Remembered][];
    return entries.map(([key, one]) => ({
      ...one,
      key,
      state: 'stopped',
      error: null,
      speed: null,
      file: null,
    }));
  } catch {
    return [];
  }
}
