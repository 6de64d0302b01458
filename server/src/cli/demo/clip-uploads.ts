/** Uploads the clips to the running service through the public API. */
import { mkdir, rm } from 'node:fs/promises';
import { openAsBlob } from 'node:fs';
import path from 'node:path';
import { generateClip } from '../../features/media/media.ts';
import { sleep } from '../../platform/async/lifecycle.ts';
import { demoClips, type DemoClip } from './clips.ts';
import { drawScene } from './scenes.ts';

export type ContentAccess = { url: string; secretKey: string };

const pollMs = 250;

type ListedItem = { externalId: string | null; uploadStatus: string };

/**
 * Generates and uploads the missing clips. An archived clip does not count as missing: it keeps its
 * externalId, and it was archived on purpose. The first clip is processed before the next is
 * generated, so that there is something to watch as soon as possible. `onPlayable` is called once
 * it plays.
 */
export async function uploadMissing(
  access: ContentAccess,
  folder: string,
  { onPlayable, signal }: { onPlayable: () => void; signal: AbortSignal },
): Promise<void> {
  const items = await listItems(access, signal);
  const present = new Set(items.map((item) => item.externalId));
  const missing = demoClips.filter((clip) => !present.has(clip.externalId));
  let isPlayable = items.some(({ uploadStatus }) => uploadStatus === 'ready');
  if (isPlayable) onPlayable();
  await mkdir(folder, { recursive: true });
  for (const [index, clip] of missing.entries()) {
    process.stdout.write(`  Making sample clip ${index + 1} of ${missing.length}: ${clip.title}\n`);
    await uploadClip(access, clip, folder, signal);
    if (isPlayable) continue;
    await untilProcessed(access, signal);
    onPlayable();
    isPlayable = true;
  }
}

/**
 * Waits until each uploaded clip is playable or has failed permanently.
 *
 * @param onProgress called with the number of finished clips and the total whenever it grows
 */
export async function untilProcessed(
  access: ContentAccess,
  signal: AbortSignal,
  onProgress: (processed: number, all: number) => void = () => undefined,
): Promise<void> {
  const names = new Set(demoClips.map((clip): string | null => clip.externalId));
  for (let told = 0; ;) {
    const clips = (await listItems(access, signal)).filter(({ externalId }) =>
      names.has(externalId),
    );
    const isUnderWay = ({ uploadStatus }: ListedItem): boolean =>
      uploadStatus === 'pending' || uploadStatus === 'processing';
    const processed = clips.length - clips.filter(isUnderWay).length;
    if (processed > told) onProgress(processed, clips.length);
    if (processed === clips.length) return;
    told = processed;
    await sleep(pollMs, signal);
  }
}

async function listItems(
  { url, secretKey }: ContentAccess,
  signal: AbortSignal,
): Promise<ListedItem[]> {
  const answer = await fetch(`${url}/v1/content?limit=100&archived=true`, {
    headers: { authorization: `Bearer ${secretKey}` },
    signal,
  });
  if (!answer.ok) throw new Error(`Cannot list the clips: ${await answer.text()}`);
  const { data } = (await answer.json()) as { data: ListedItem[] };
  return data;
}

async function uploadClip(
  { url, secretKey }: ContentAccess,
  clip: DemoClip,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const file = path.join(folder, `${clip.externalId}.mp4`);
  const { picture, theme, externalId } = clip;
  const layers = theme === undefined ? [] : await drawScene(theme, picture, externalId, folder);
  await generateClip({ ...picture, layers, path: file }, signal);
  await Promise.all(layers.map((layer) => rm(layer.file)));
  const form = new FormData();
  form.set('title', clip.title);
  form.set('description', clip.description);
  form.set('author', clip.author);
  form.set('section', 'Demo');
  form.set('tags', clip.tags.join(','));
  form.set('protected', String(clip.protected));
  form.set('externalId', clip.externalId);
  form.set('file', await openAsBlob(file), 'clip.mp4');
  const answer = await fetch(`${url}/v1/content/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secretKey}` },
    body: form,
    signal,
  });
  if (!answer.ok) throw new Error(`Uploading a sample clip failed: ${await answer.text()}`);
  await rm(file, { force: true });
}
