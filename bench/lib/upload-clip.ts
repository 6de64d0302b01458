/** Uploads clips for benchmarks and waits until they are processed. */
import { openAsBlob } from 'node:fs';
import type { BenchService } from './service.ts';

export type BenchItem = {
  id: string;
  streamingUrl: string | null;
  storyboardUrl: string | null;
  errorReason: unknown;
};

export async function poll<T>(probe: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await probe();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function uploadClip(
  service: BenchService,
  file: string,
  title: string,
): Promise<string> {
  const form = new FormData();
  form.set('title', title);
  form.set('file', await openAsBlob(file), 'clip.mp4');
  const answer = await fetch(`${service.url}/v1/content/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.secretKey}` },
    body: form,
  });
  const { data } = (await answer.json()) as { data: BenchItem };
  return data.id;
}

/**
 * Waits until `isDone` holds for an item.
 *
 * @throws if its processing fails
 */
export function settled(
  service: BenchService,
  id: string,
  isDone: (item: BenchItem) => boolean,
): Promise<BenchItem> {
  return poll(async () => {
    const answer = await fetch(`${service.url}/v1/content/${id}`, {
      headers: { authorization: `Bearer ${service.secretKey}` },
    });
    const { data } = (await answer.json()) as { data: BenchItem };
    if (data.errorReason !== null) throw new Error(JSON.stringify(data.errorReason));
    return isDone(data) ? data : null;
  });
}

/** Whether all renditions are available: the storyboard comes with the last of them. */
export const isComplete = (item: BenchItem): boolean => item.storyboardUrl !== null;
export const isPlayable = (item: BenchItem): boolean => item.streamingUrl !== null;
