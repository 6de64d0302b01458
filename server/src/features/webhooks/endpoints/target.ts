/**
 * Allowed URLs of webhooks: https, without credentials, resolving only to public addresses. A name
 * that can't be resolved right now is accepted, because its receiver may come up later and each
 * attempt checks the addresses that it connects to. Only a name that no public name server can know
 * is rejected outright.
 */
import type { Egress } from '../../../platform/egress/egress.ts';
import { EgressError } from '../../../platform/egress/egress-errors.ts';
import { schemesOf, type Destination } from '../sending/destinations/destination.ts';
import type { OptionChange } from './option-schemas.ts';
import { requireScheme } from './options.ts';
import { fieldError } from '../../../platform/http/errors.ts';

/** Top-level names reserved for local use (RFC 6761, 6762, 8375, and `internal`). */
const localNames = /(^|\.)(localhost|localdomain|local|internal|home\.arpa|intranet|lan)$/i;

/** Requests do not wait longer than this for a name server. */
const resolveTimeoutMs = 1_500;

/**
 * Checks a webhook's URL for its destination, and the URL of its OAuth server.
 * @returns the webhook's URL as stored
 * @throws {ApiError} VALIDATION_ERROR
 */
export async function requireTargets(
  egress: Egress,
  url: string,
  type: Destination['type'],
  oauth: OptionChange['oauth'],
): Promise<string> {
  requireScheme(url, type);
  if (oauth) await requireTarget(egress, oauth.tokenUrl, 'https', 'oauth.tokenUrl');
  return requireTarget(egress, url, type);
}

/**
 * Checks a URL before it is stored or called.
 * @returns the URL as stored
 * @throws {ApiError} VALIDATION_ERROR for `url`
 */
export async function requireTarget(
  egress: Egress,
  url: string,
  type: Destination['type'] = 'https',
  field = 'url',
): Promise<string> {
  const schemes = schemesOf[type];
  const timeout = AbortSignal.timeout(resolveTimeoutMs);
  try {
    return (await egress.checkUrl(url, { schemes }, timeout)).href;
  } catch (error) {
    const isSilent = error === timeout.reason;
    if (!isSilent && !(error instanceof EgressError)) throw error;
    const isUnknown = isSilent || (error instanceof EgressError && error.failure === 'dns_error');
    const parsed = URL.canParse(url) ? new URL(url) : null;
    const host = parsed?.hostname.replace(/\.$/, '') ?? '';
    if (isUnknown && parsed !== null && host.includes('.') && !localNames.test(host)) {
      return parsed.href;
    }
    const reason = error instanceof EgressError && !isUnknown ? error.message : null;
    throw fieldError(field, reason ?? `${host} is not a public host`);
  }
}
