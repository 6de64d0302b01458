const counts = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** `1234` becomes `1.2K`. 0 becomes an empty text, so that a label can take its place. */
export function formatCount(count: number): string {
  return count > 0 ? counts.format(count) : '';
}

/** Seconds as `m:ss` or `h:mm:ss`. */
export function formatTime(seconds: number): string {
  const whole = Number.isFinite(seconds) ? Math.max(0, Math.floor(seconds)) : 0;
  const rest = String(whole % 60).padStart(2, '0');
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${rest}`;
}

/**
 * A start time in the viewer's language: `18:00`, with the day unless it is today. Null if it has
 * passed.
 */
export function formatStart(start: Date, now: Date, locales?: Intl.LocalesArgument): string | null {
  if (!(start > now)) return null;
  const isToday = start.toDateString() === now.toDateString();
  return start.toLocaleString(locales, {
    timeStyle: 'short',
    ...(!isToday && { dateStyle: 'medium' }),
  });
}

/** The maximum share of a picture that may be cropped to fill the frame. */
const largestCut = 0.22;

/**
 * Whether a picture should fill its frame. A portrait clip on a taller phone is cropped slightly at
 * the sides and looks native; a landscape clip would lose most of its picture, so it is shown
 * whole.
 */
export function fillsFrame(
  width: number | null,
  height: number | null,
  frameWidth: number,
  frameHeight: number,
): boolean {
  if (width === null || height === null || frameWidth <= 0 || frameHeight <= 0) return false;
  const ratio = width / height / (frameWidth / frameHeight);
  return 1 - Math.min(ratio, 1 / ratio) <= largestCut;
}
