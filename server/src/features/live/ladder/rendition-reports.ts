/**
 * Tells a player of one rendition how far the others are, so that it changes to another one without
 * reading its playlist twice (RFC 8216bis, 4.4.5.4).
 */
export type RenditionReport = {
  /** The file of its playlist. */
  readonly uri: string;
  readonly lastSegment: number;
  /** The last part of that segment; null where it has none. */
  readonly lastPart: number | null;
};

export function reportLines(reports: readonly RenditionReport[]): string[] {
  return reports.map(({ uri, lastSegment, lastPart }) => {
    const part = lastPart === null ? '' : `,LAST-PART=${lastPart}`;
    return `#EXT-X-RENDITION-REPORT:URI="${uri}",LAST-MSN=${lastSegment}${part}`;
  });
}
