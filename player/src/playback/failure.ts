import { type PlaybackFailure } from '@reelfeed/client/playing';

/**
 * Errors of the client have a code; others, such as a file that failed to load, are named by type.
 */
export function describe(error: unknown): PlaybackFailure {
  if (!(error instanceof Error)) return { code: 'UNKNOWN', message: 'The clip cannot be opened.' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return { code, message: error.message };
}
