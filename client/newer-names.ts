/**
 * Names that the packages must not use, because Node 20, Safari 15 and Chrome 100 lack them. The
 * compiler finds newer language features (`lib` in the tsconfig of each package); this finds newer
 * browser APIs, which bundlers leave unchanged.
 */
import { transform } from 'esbuild';

/** The oldest supported targets, in esbuild's notation. */
export const oldestTargets = ['safari15', 'chrome100', 'node20'];

const newerMembers =
  `any timeout throwIfAborted at findLast findLastIndex toReversed toSorted toSpliced
  with fromAsync hasOwn groupBy withResolvers try canParse isWellFormed toWellFormed union difference
  symmetricDifference isSubsetOf isSupersetOf isDisjointFrom randomUUID checkVisibility showPopover
  startViewTransition setHTMLUnsafe`.replaceAll(/\s+/g, '|');
const newerGlobals = ['structuredClone', 'reportError', 'scheduler', 'CompressionStream'].join('|');
const newer = new RegExp(`(?:\\.|\\?\\.)(?:${newerMembers})\\(|\\b(?:${newerGlobals})\\b`, 'g');

const newerStyles =
  /@container|@layer|@scope|@property|:has\(|\d(?:cq[whib]|cqmin|cqmax)\b|color-mix\(|light-dark\(|@media[^{]*[<>]|(?<=[{};])\s*&/g;

/** Newer names in a script, ignoring comments. */
export async function newerNamesIn(script: string): Promise<string[]> {
  const { code } = await transform(script, { loader: 'js', minify: true, legalComments: 'none' });
  return code.match(newer) ?? [];
}

/** Style sheet features that the oldest supported browsers lack. */
export function newerStylesIn(css: string): string[] {
  return css.match(newerStyles) ?? [];
}
