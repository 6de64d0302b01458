/**
 * What a tab does when the service is upgraded under it. Names of the built files hold their hash, so
 * a page that was not opened before cannot be loaded any more; a reload gets the new build.
 */
import { isBusy } from './busy.ts';

const reloadedAtKey = 'reelfeed.console.reloadedAt';
/** In a cluster that is being upgraded, each reload may meet the other build. */
const minReloadGapMs = 60_000;

const entryOf = (text: string): string | null => /assets\/index-[\w-]+\.js/.exec(text)?.[0] ?? null;
const ownBuild = entryOf(
  document.querySelector('script[type="module"]')?.getAttribute('src') ?? '',
);

/** How the service is seen from here: away, with the build of this page, or with another one. */
export async function lookForUpgrade(): Promise<'away' | 'same' | 'other'> {
  try {
    const answer = await fetch(window.location.href.split('#')[0] ?? '', { cache: 'no-store' });
    const served = answer.ok ? entryOf(await answer.text()) : null;
    if (served === null) return 'away';
    return served === ownBuild ? 'same' : 'other';
  } catch {
    return 'away';
  }
}

/**
 * Reloads if the service has another build, but neither twice in a minute nor while something would be
 * lost. @returns whether it does
 */
export async function reloadIfUpgraded(): Promise<boolean> {
  if (isBusy() || Date.now() - reloadedAt() < minReloadGapMs) return false;
  if ((await lookForUpgrade()) !== 'other') return false;
  try {
    sessionStorage.setItem(reloadedAtKey, String(Date.now()));
  } catch {
    // Without a note of it, nothing would end a loop.
    return false;
  }
  window.location.reload();
  return true;
}

function reloadedAt(): number {
  try {
    return Number(sessionStorage.getItem(reloadedAtKey) ?? 0);
  } catch {
    return 0;
  }
}
