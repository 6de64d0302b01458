import { fieldError } from '../../platform/http/errors.ts';
import { parseTimestamp } from '../../platform/values/time.ts';

/**
 * Parses a timestamp from a request field.
 * @throws {ApiError} VALIDATION_ERROR
 */
export function requireMoment(field: string, text: string): Date {
  const moment = parseTimestamp(text);
  if (moment === null) throw fieldError(field, 'must be a timestamp');
  return moment;
}
