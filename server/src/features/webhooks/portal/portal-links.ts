/**
 * Links for an operator's own customers. A link carries a signed token that names the organization, the
 * customer and its end; nothing of it is stored, so it holds until then. The token stands behind the `#`
 * of the link: it reaches neither a log nor another site.
 */
import type { OrganizationId } from '../../../platform/ids.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import type { Signer } from '../../../platform/signing-keys.ts';

export type PortalVisitor = { readonly organizationId: OrganizationId; readonly customer: string };

const prefix = 'whp_';
const signatureBytes = 32;

export function portalToken(
  signer: Signer,
  { organizationId, customer }: PortalVisitor,
  expiresAt: Date,
): string {
  const claims = JSON.stringify([
    organizationId,
    customer,
    Math.floor(expiresAt.getTime() / 1_000),
  ]);
  const body = Buffer.from(claims).toString('base64url');
  return `${prefix}${body}.${signer.sign(body, signatureBytes).toString('base64url')}`;
}

/** @throws ApiError UNAUTHORIZED */
export function readPortalToken(
  signer: Signer,
  authorization: string | undefined,
  nowMs: number,
): PortalVisitor {
  const form = /^Bearer whp_([\w-]{1,2000})\.([\w-]{43})$/;
  const [, body = '', signature = ''] = form.exec(authorization ?? '') ?? [];
  if (body === '' || !signer.verify(body, Buffer.from(signature, 'base64url'))) throw refusal();
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as [
    OrganizationId,
    string,
    number,
  ];
  const [organizationId, customer, expiresAtS] = claims;
  if (nowMs >= expiresAtS * 1_000) throw refusal();
  return { organizationId, customer };
}

function refusal(): ApiError {
  return new ApiError('UNAUTHORIZED', {
    message: 'The link is not valid or has expired. Ask for a new one.',
  });
}
