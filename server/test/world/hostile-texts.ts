/**
 * Texts that break software: what viewers and editors really write, and what attackers do. Each is
 * a valid title. If a script in one of them runs, it sets `reelfeedBroken` on the page's global
 * object.
 */
import { languages } from '../../src/cli/demo/languages.ts';

const attack = 'globalThis.reelfeedBroken=1';

export const hostileTexts = {
  ...languages,
  emoji: '🎬'.repeat(200),
  families: '👨‍👩‍👧‍👦'.repeat(28),
  directionOverride: 'photo\u202Egpj.exe',
  zeroWidth: 'ze\u200Bro\u200D wi\u2060dth\uFEFF',
  looksEmpty: '\u3164\u2800',
  combining: `Z${'\u0301\u0327\u0489'.repeat(20)}a${'\u0335\u0336'.repeat(20)}lgo`,
  script: `<script>${attack}</script>`,
  image: `"><img src=x onerror="${attack}">`,
  svg: `</title></script></style><svg onload='${attack}'>`,
  link: `javascript:${attack}//`,
  template: `{{constructor.constructor('${attack}')()}} \${${attack}} <%= 7*7 %>`,
  formula: '=1+1',
  command: '=cmd|\' /C calc\'!A0;@SUM(1+1),+1,-1,"quoted"',
  statement: "'; drop table content; --",
  path: '../../../../etc/passwd%00.mp4?a=b&c=d#e',
  format: '%s %d %n %@ $1 \\0 \\u0000',
  prototype: '__proto__',
  json: '{"title":["x",null]}',
  lines: 'two\nlines\r\nand\ta tab',
  spaces: '   spaces   around   ',
  longWord: 'Donaudampfschiffahrtsgesellschaft'.repeat(6),
  wide: 'W'.repeat(200),
} as const;

export type HostileName = keyof typeof hostileTexts;

/** All of them with their names. */
export const hostileEntries = Object.entries(hostileTexts) as [HostileName, string][];

/** Metadata with the same hostile text wherever possible. */
export function hostileMetadata(name: HostileName): object {
  const text = hostileTexts[name];
  return {
    title: text,
    description: `${text}\n\n${text}`,
    author: text,
    section: text,
    tags: [text.replaceAll(',', ';').trim().slice(0, 40), 'hostile'].filter(isTag),
    customMetadata: { [`about ${text.slice(0, 60)}`]: { nested: [text, null, { deep: text }] } },
    externalId: `hostile-${name}`,
  };
}

/** Truncation must not leave half a surrogate pair. */
function isTag(text: string): boolean {
  return text !== '' && text.isWellFormed();
}
