/** Codes of whisper that are not those of BCP 47. */
const renamed: Readonly<Record<string, string>> = { jw: 'jv' };
/** Languages without a code in ISO 639-1, and the one that a caption track names instead. */
const nearest: Readonly<Record<string, string>> = { yue: 'zh' };

/** What an item (BCP 47) and its captions (ISO 639-1) call a language that whisper has heard. */
export function codesOf(heard: string): { spoken: string; track: string } {
  const spoken = renamed[heard] ?? heard;
  return { spoken, track: nearest[spoken] ?? spoken };
}
