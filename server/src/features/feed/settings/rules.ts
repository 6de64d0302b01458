/** Validation of editorial rules. */
import { ApiError, type ErrorDetail } from '../../../platform/http/errors.ts';
import { parseContentId } from '../../../platform/values/ids.ts';
import type { RuleFields } from './settings-queries.ts';

/** @throws ApiError VALIDATION_ERROR naming each field that does not fit the type */
export function checkRule(rule: RuleFields): RuleFields {
  const details: ErrorDetail[] = [];
  const problem = (path: string, message: string) => details.push({ path, message });
  const { type, match, factor, position, startsAt, endsAt } = rule;
  const hasFactor = type === 'boost' || type === 'suppress';
  if (hasFactor && factor === null) problem('factor', `is required for the type ${type}`);
  if (!hasFactor && factor !== null) problem('factor', `is not allowed for the type ${type}`);
  if (type === 'boost' && factor !== null && factor < 1) problem('factor', 'must be at least 1');
  if (type === 'suppress' && factor !== null && factor > 1) problem('factor', 'must be at most 1');
  if (type === 'pin' && position === null) problem('position', 'is required for the type pin');
  if (type !== 'pin' && position !== null) problem('position', 'is allowed only for the type pin');
  if (startsAt !== null && endsAt !== null && startsAt >= endsAt) {
    problem('endsAt', 'must be after startsAt');
  }
  const contentId = match.contentId === undefined ? null : parseContentId(match.contentId);
  if (match.contentId !== undefined && contentId === null) {
    problem('match.contentId', 'must be the id of a content item');
  }
  if (details.length > 0) throw new ApiError('VALIDATION_ERROR', { details });
  return contentId === null ? rule : { ...rule, match: { ...match, contentId } };
}
