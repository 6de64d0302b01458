/** Simulcast targets. Their keys are stored encrypted and never shown again. */
import { ApiError, fieldError } from '../../../platform/http/errors.ts';
import type { Tx } from '../../../platform/database/database.ts';
import { EgressError } from '../../../platform/egress/egress-errors.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { newTypeId } from '../../../platform/values/ids.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import { lockStream, type LiveStreamKey } from '../queries.ts';
import { targetSchemes } from './connect-target.ts';
import { countTargets, deleteTarget, insertTarget } from './target-queries.ts';

export const maxTargets = 5;

export type TargetFields = {
  readonly url: string;
  readonly streamKey: string;
  readonly name?: string;
};

/** Binds an encrypted key to its target. */
export function keyContext(key: LiveStreamKey, targetId: string): string {
  return `live-simulcast:${key.organizationId}:${key.liveStreamId}:${targetId}`;
}

/** @throws {ApiError} VALIDATION_ERROR if a URL is not allowed */
export async function checkTargets(
  egress: Egress,
  targets: readonly TargetFields[],
  field: (index: number) => string,
): Promise<void> {
  for (const [index, { url }] of targets.entries()) {
    try {
      await egress.checkUrl(url, { schemes: targetSchemes });
    } catch (error) {
      if (error instanceof EgressError) throw fieldError(field(index), error.message);
      throw error;
    }
    // The URL is shown, so it must not contain secrets.
    if (new URL(url).search !== '') {
      const message = 'must not have a query string, which belongs in the stream key';
      throw fieldError(field(index), message);
    }
  }
}

/**
 * The caller must have checked the URL.
 * @throws {ApiError} CONFLICT
 */
export async function addTarget(
  tx: Tx,
  vault: Vault,
  key: LiveStreamKey,
  { name, streamKey, url }: TargetFields,
): Promise<string> {
  const stream = await lockStream(tx, key);
  if (stream?.status === 'ended') {
    throw new ApiError('CONFLICT', {
      message: 'This stream has ended, so targets can no longer be added.',
    });
  }
  if ((await countTargets(tx, key)) >= maxTargets) {
    const message = `A live stream can have at most ${maxTargets} simulcast targets.`;
    throw new ApiError('CONFLICT', { message });
  }
  const targetId = newTypeId('sct');
  await insertTarget(tx, key, {
    targetId,
    name: name ?? new URL(url).hostname,
    url,
    sealedKey: vault.seal(streamKey, keyContext(key, targetId)),
    keyEnd: streamKey.length >= 12 ? streamKey.slice(-4) : '',
  });
  return targetId;
}

/** @throws {ApiError} NOT_FOUND */
export async function removeTarget(tx: Tx, key: LiveStreamKey, targetId: string): Promise<void> {
  if (await deleteTarget(tx, key, targetId)) return;
  throw new ApiError('NOT_FOUND', { message: 'There is no simulcast target with this id.' });
}
