/**
 * Handles an upgrade of the service while a tab is open. Names of the built files contain a hash,
 * so a page that was not opened before can no longer be loaded; a reload gets the new build.
 */
import { isBusy } from './busy.ts';

const reloadedAtKey = 'reelfeed.console.reloadedAt';
/** During a rolling upgrade of a cluster, each reload may hit the other build. */
const minReloadGapMs = 60_000;

const entryOf = (text: string): string | null => /assets\/index-[\w-]+\.js/.exec(text)?.[0] ?? null;
const ownBuild = entryOf(
  document.querySelector('script[type="module"]')?.getAttribute('src') ?? '',
);

/** Whether the service is unavailable (`away`), or serves this page's build or another one. */
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
 * Reloads if the service has another build, but not twice within a minute or if something would be
 * lost. Returns whether it reloads.
 */
export async function reloadIfUpgraded(): Promise<boolean> {
  if (isBusy() || Date.now() - reloadedAt() < minReloadGapMs) return false;
  if ((await lookForUpgrade()) !== 'other') return false;
  try {
    sessionStorage.setItem(reloadedAtKey, String(Date.now()));
  } catch {
    // If the time can't be stored, nothing would end a reload loop.
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
