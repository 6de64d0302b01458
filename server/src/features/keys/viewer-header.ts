/** The user id of a request and its trustworthiness. */
import type { FastifyRequest } from 'fastify';
import { principalOf } from '../../platform/http/principal.ts';
import type { SignatureReader } from './viewer-keys.ts';

/**
 * Whether a request may act for a user id: a secret key may; otherwise it needs the header
 * `X-Viewer-Signature` if the organization requires signatures.
 */
export async function maySpeakFor(
  request: FastifyRequest,
  userId: string,
  signatures: SignatureReader,
): Promise<boolean> {
  const { organizationId, type } = principalOf(request);
  if (type === 'secret') return true;
  const { isRequired, check } = await signatures(organizationId);
  return !isRequired || check(userId, request.headers['x-viewer-signature']) === 'signed';
}

/**
 * Whether a request certainly comes from the user or the app's server: data that only the user may
 * see requires a secret key or the user's signature, whatever the organization's setting.
 */
export async function isVouchedFor(
  request: FastifyRequest,
  userId: string,
  signatures: SignatureReader,
): Promise<boolean> {
  const { organizationId, type } = principalOf(request);
  if (type === 'secret') return true;
  const { check } = await signatures(organizationId);
  return check(userId, request.headers['x-viewer-signature']) === 'signed';
}
