/** What some browsers say of the line (Network Information API); Safari and Firefox say nothing. */
type Connection = {
  readonly effectiveType?: string;
  /** Megabits per second, rounded. */
  readonly downlink?: number;
  readonly saveData?: boolean;
};

/** Starts the smallest renditions. */
const SAVING_BPS = 200_000;
const LOWEST_BPS = 150_000;
/** The share of a rounded estimate that is safe to use. */
const SAFE_SHARE = 0.7;

/**
 * The rate to begin with where the browser knows that the line is slow, or is asked to save data, in
 * bits per second. Null for a fast line, and where the browser says nothing: then nothing is given up.
 */
export function slowLineBps(navigator: object): number | null {
  const connection = (navigator as { connection?: Connection }).connection;
  if (connection === undefined) return null;
  if (connection.saveData === true) return SAVING_BPS;
  const { downlink = 0, effectiveType = '4g' } = connection;
  return effectiveType === '4g' ? null : Math.max(LOWEST_BPS, downlink * 1_000_000 * SAFE_SHARE);
}
