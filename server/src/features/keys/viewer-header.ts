/** The user id of a request, as far as it may be believed. */
import type { FastifyRequest } from 'fastify';
import { principalOf } from '../../platform/http/principal.ts';
import type { SignatureReader } from './viewer-keys.ts';

/**
 * Whether a request may speak for a user id: with a secret key it may; otherwise it needs the header
 * `X-Viewer-Signature` where the organization requires signatures.
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
 * Whether a request is certain to come from the user, or from the app's server: what only the user may
 * see needs a secret key or the user's signature, whatever the organization requires.
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
