/**
 * Static headers that a webhook adds to its deliveries, such as an `Authorization` for a gateway.
 */
import { fieldError } from '../../../platform/http/errors.ts';
import type { OrganizationId, WebhookId } from '../../../platform/values/ids.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import { headersContext } from './secrets.ts';

export type CustomHeaders = Readonly<Record<string, string>>;

/** Headers set by the service or by HTTP itself, which can't be overridden. */
const reserved =
  /^(x-service-.*|webhook-.*|content-.*|host|user-agent|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|proxy-.*)$/;

/** @throws {ApiError} VALIDATION_ERROR for an invalid name or value */
export function requireHeaders(headers: CustomHeaders): void {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const path = `headers.${name}`;
    const lower = name.toLowerCase();
    if (!/^[!#$%&'*+\-.^_`|~\w]{1,128}$/.test(name))
      throw fieldError(path, 'is not a valid header name');
    if (reserved.test(lower)) throw fieldError(path, 'is set by the service');
    if (seen.has(lower)) throw fieldError(path, 'is given more than once');
    seen.add(lower);
    if (!/^[\x20-\x7e]*$/.test(value)) throw fieldError(path, 'must be printable ASCII');
  }
}

/** The header names, which are shown, and the headers encrypted for the database. */
export function sealHeaders(
  vault: Vault,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  headers: CustomHeaders | null,
): { names: string[]; sealed: Buffer | null } {
  const entries = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  if (entries.length === 0) return { names: [], sealed: null };
  const text = JSON.stringify(Object.fromEntries(entries));
  return {
    names: entries.map(([name = '']) => name),
    sealed: vault.seal(text, headersContext(organizationId, webhookId)),
  };
}
