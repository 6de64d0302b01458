/**
 * What the packages must not use: Node 20, Safari 15 and Chrome 100 lack it. The compiler finds what
 * is newer in the language (`lib` in the tsconfig of each package); this finds what is newer in
 * browsers and what a bundler leaves as it is.
 */
import { transform } from 'esbuild';

/** The oldest that the packages run in, as esbuild names them. */
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

/** Newer names in a script. Comments don't count. */
export async function newerNamesIn(script: string): Promise<string[]> {
  const { code } = await transform(script, { loader: 'js', minify: true, legalComments: 'none' });
  return code.match(newer) ?? [];
}

/** Style sheet features that the oldest supported browsers lack. */
export function newerStylesIn(css: string): string[] {
  return css.match(newerStyles) ?? [];
}
