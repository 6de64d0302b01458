/** Whisper codes that differ from BCP 47. */
const renamed: Readonly<Record<string, string>> = { jw: 'jv' };
/** Languages without an ISO 639-1 code, and the one that a caption track uses instead. */
const nearest: Readonly<Record<string, string>> = { yue: 'zh' };

/** The codes of a detected language: of the item (BCP 47) and its captions (ISO 639-1). */
export function codesOf(heard: string): { spoken: string; track: string } {
  const spoken = renamed[heard] ?? heard;
  return { spoken, track: nearest[spoken] ?? spoken };
}
