/**
 * Tells a player of one rendition where the others end, so that it can switch without loading
 * another playlist twice (RFC 8216bis, 4.4.5.4).
 */
export type RenditionReport = {
  /** The file name of its playlist. */
  readonly uri: string;
  readonly lastSegment: number;
  /** The last part of that segment, or null if it has none. */
  readonly lastPart: number | null;
};

export function reportLines(reports: readonly RenditionReport[]): string[] {
  return reports.map(({ uri, lastSegment, lastPart }) => {
    const part = lastPart === null ? '' : `,LAST-PART=${lastPart}`;
    return `#EXT-X-RENDITION-REPORT:URI="${uri}",LAST-MSN=${lastSegment}${part}`;
  });
}
