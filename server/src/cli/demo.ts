/** `npm run demo`: the service with a dozen generated clips, in a data directory of its own. */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { openAsBlob } from 'node:fs';
import path from 'node:path';
import { generateKey } from '../features/keys/keys.ts';
import { generateClip } from '../features/media/sample-clips.ts';
import { runService } from '../run.ts';
import type { Command } from './command.ts';
import { demoClips, type DemoClip } from './demo-clips.ts';

type DemoKeys = { secretKey: string; publishableKey: string };

export const demo: Command = async ({ env }) => {
  const dataDir = path.resolve(env['REELFEED_DATA_DIR'] ?? './data/demo');
  const keys = await loadKeys(dataDir);
  const settings = {
    ...env,
    REELFEED_DATA_DIR: dataDir,
    REELFEED_SECRET_KEY: keys.secretKey,
    REELFEED_PUBLISHABLE_KEY: keys.publishableKey,
    REELFEED_LOG_LEVEL: env['REELFEED_LOG_LEVEL'] ?? 'warn',
  };
  await runService(settings, {
    playerKey: keys.publishableKey,
    async onReady(service, _config, signal) {
      if (service.listeningUrl === null) return;
      process.stdout.write(`  Secret key         ${keys.secretKey}\n`);
      process.stdout.write(`  Publishable key    ${keys.publishableKey}\n\n`);
      try {
        await uploadMissing(service.listeningUrl, keys, path.join(dataDir, 'clips'), signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  });
};

/** The demo's keys stay the same from start to start, so that its URLs do. */
async function loadKeys(dataDir: string): Promise<DemoKeys> {
  const file = path.join(dataDir, 'demo-keys.json');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  try {
    return JSON.parse(await readFile(file, 'utf8')) as DemoKeys;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const keys = { secretKey: generateKey('secret'), publishableKey: generateKey('publishable') };
  // A kill must not leave half a file, which no later start could read.
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, JSON.stringify(keys), { mode: 0o600 });
  await rename(draft, file);
  return keys;
}

/**
 * Makes and uploads the clips that are not there yet, through the public API. One that somebody has
 * archived is there: it keeps its externalId, and nobody wants it back.
 */
async function uploadMissing(
  url: string,
  keys: DemoKeys,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const authorization = `Bearer ${keys.secretKey}`;
  const listed = await fetch(`${url}/v1/content?limit=100&archived=true`, {
    headers: { authorization },
    signal,
  });
  const { data } = (await listed.json()) as { data: { externalId: string | null }[] };
  const present = new Set(data.map((item) => item.externalId));
  const missing = demoClips.filter((clip) => !present.has(clip.externalId));
  await mkdir(folder, { recursive: true });
  for (const [index, clip] of missing.entries()) {
    process.stdout.write(`  Making sample clip ${index + 1} of ${missing.length}: ${clip.title}\n`);
    await uploadClip(url, authorization, clip, folder, signal);
  }
  process.stdout.write(
    `  The sample clips are uploaded: they play at ${url}/feed as soon as they are processed.\n\n`,
  );
}

async function uploadClip(
  url: string,
  authorization: string,
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
  form.set('externalId', clip.externalId);
  form.set('file', await openAsBlob(file), 'clip.mp4');
  const answer = await fetch(`${url}/v1/content/upload`, {
    method: 'POST',
    headers: { authorization },
    body: form,
    signal,
  });
  if (!answer.ok) throw new Error(`The upload of a sample clip failed: ${await answer.text()}`);
  await rm(file, { force: true });
}
