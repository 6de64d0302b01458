/** Brings the clips into the running service, through the public API. */
import { mkdir, rm } from 'node:fs/promises';
import { openAsBlob } from 'node:fs';
import path from 'node:path';
import { generateClip } from '../../features/media/media.ts';
import { sleep } from '../../platform/lifecycle.ts';
import { demoClips, type DemoClip } from './clips.ts';

export type ContentAccess = { url: string; secretKey: string };

type ListedItem = { externalId: string | null; uploadStatus: string };

/**
 * Makes and uploads the clips that are not there yet. One that somebody has archived is there: it
 * keeps its externalId, and nobody wants it back.
 */
export async function uploadMissing(
  access: ContentAccess,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const present = new Set((await listItems(access, signal)).map((item) => item.externalId));
  const missing = demoClips.filter((clip) => !present.has(clip.externalId));
  await mkdir(folder, { recursive: true });
  for (const [index, clip] of missing.entries()) {
    process.stdout.write(`  Making sample clip ${index + 1} of ${missing.length}: ${clip.title}\n`);
    await uploadClip(access, clip, folder, signal);
  }
  process.stdout.write(
    `  The sample clips are uploaded: they play at ${access.url}/feed as soon as they are processed.\n\n`,
  );
}

/** Waits until each of the clips is playable, or never will be. */
export async function untilProcessed(access: ContentAccess, signal: AbortSignal): Promise<void> {
  const names = new Set(demoClips.map((clip): string | null => clip.externalId));
  for (;;) {
    const items = await listItems(access, signal);
    const isUnderWay = ({ externalId, uploadStatus }: ListedItem): boolean =>
      names.has(externalId) && (uploadStatus === 'pending' || uploadStatus === 'processing');
    if (!items.some(isUnderWay)) return;
    await sleep(1_000, signal);
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
  if (!answer.ok) throw new Error(`The clips can't be listed: ${await answer.text()}`);
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
  await generateClip({ ...clip.picture, path: file }, signal);
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
  if (!answer.ok) throw new Error(`The upload of a sample clip failed: ${await answer.text()}`);
  await rm(file, { force: true });
}
