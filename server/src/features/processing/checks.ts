/** Media engine checks of `reelfeed doctor`. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Finding } from '../../platform/feature/finding.ts';
import { findCage, generateClip } from '../media/media.ts';

/** Encodes a very short clip. */
export async function checkMediaEngine(): Promise<Finding[]> {
  const subject = 'Media engine';
  const folder = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-doctor-'));
  try {
    const file = path.join(folder, 'clip.mp4');
    const picture = {
      source: 'testsrc2',
      width: 64,
      height: 64,
      seconds: 0.2,
      frameRate: 10,
    } as const;
    await generateClip({ ...picture, path: file, tone: null }, AbortSignal.timeout(30_000));
    return [{ subject, state: 'ok', detail: 'decodes and encodes video' }, await describeCage()];
  } catch (error) {
    const mend = 'Run npm ci again, without --omit=optional.';
    return [{ subject, state: 'problem', detail: (error as Error).message, mend }];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function describeCage(): Promise<Finding> {
  const subject = 'Media cage';
  const { level, hasSeccomp, reason } = await findCage();
  const filter = hasSeccomp ? ', and a seccomp filter' : '; no seccomp filter (it needs Perl)';
  if (level === 'namespaces') {
    const detail = `the media process has no network and sees only its job and its runtime${filter}`;
    return { subject, state: 'ok', detail };
  }
  return {
    subject,
    state: 'note',
    detail: `the media process is confined only by Node's permissions${filter}; namespaces fail: ${reason}`,
    mend: 'Allow unprivileged user namespaces, or run the role media in a container of its own.',
  };
}
