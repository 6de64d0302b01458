/** Organizations: the owners of content, and its default settings. */
import type { Static } from 'typebox';
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { fieldError } from '../../platform/http/errors.ts';
import { newTypeId, type OrganizationId } from '../../platform/values/ids.ts';
import { isTimeZone } from '../../platform/values/zone-clock.ts';
import { createKey, ensureKey, type KeyType } from '../keys/keys.ts';
import {
  insertOrganization,
  listOrganizations,
  lockOrganizations,
  type OrganizationChange,
  type OrganizationRow,
} from './queries.ts';
import type { OrganizationPatch } from './schemas.ts';

export { OrganizationClocks, readOrganizationClock } from './organization-clocks.ts';
export { ViewerSecrets } from './viewer-secrets.ts';
export {
  findOrganization,
  listOrganizations,
  organizationRows,
  organizationSetting,
  organizationTimeZone,
  type OrganizationRow,
} from './queries.ts';

export function presentOrganization(row: OrganizationRow) {
  return {
    id: row.organization_id,
    name: row.name,
    autoPublish: row.auto_publish,
    earlyPlayback: row.early_playback,
    defaultProtected: row.default_protected,
    allowedOrigins: row.allowed_origins,
    timeZone: row.time_zone,
    requireSignedViewers: row.require_signed_viewers,
  };
}

/** Keys by type; null if there is none. */
export type KeyPair = { secretKey: string | null; publishableKey: string | null };

/** A new organization with one key of each type. The keys can't be retrieved again. */
export async function createOrganization(
  tx: Tx,
  name: string,
): Promise<{ organizationId: OrganizationId } & KeyPair> {
  const organizationId = newTypeId('org');
  await insertOrganization(tx, organizationId, name);
  const keys = await generateMissingKeys(tx, organizationId, noKeys);
  return { organizationId, ...keys };
}

const noKeys: KeyPair = { secretKey: null, publishableKey: null };

/**
 * Ensures that an organization exists and that the configured keys work. Safe to call from several
 * processes at once.
 * @returns the newly generated keys
 */
export async function ensureFirstOrganization(db: Db, configured: KeyPair): Promise<KeyPair> {
  return inTransaction(db, async (tx) => {
    await lockOrganizations(tx);
    const [first] = await listOrganizations(tx, 1);
    const organizationId = (first?.organization_id as OrganizationId) ?? newTypeId('org');
    if (first === undefined) await insertOrganization(tx, organizationId, 'My organization');
    await ensureConfiguredKeys(tx, organizationId, configured);
    return first === undefined ? generateMissingKeys(tx, organizationId, configured) : noKeys;
  });
}

async function generateMissingKeys(
  tx: Tx,
  organizationId: OrganizationId,
  present: KeyPair,
): Promise<KeyPair> {
  const generate = async (type: KeyType, existing: string | null) =>
    existing === null
      ? (await createKey(tx, organizationId, { type, name: `First ${type} key`, expiresAt: null }))
          .key
      : null;
  return {
    secretKey: await generate('secret', present.secretKey),
    publishableKey: await generate('publishable', present.publishableKey),
  };
}

async function ensureConfiguredKeys(
  tx: Tx,
  organizationId: OrganizationId,
  configured: KeyPair,
): Promise<void> {
  const ensure = async (type: KeyType, key: string | null) => {
    if (key === null) return;
    const request = { type, name: 'From the configuration', expiresAt: null };
    await ensureKey(tx, organizationId, key, request);
  };
  await ensure('secret', configured.secretKey);
  await ensure('publishable', configured.publishableKey);
}

/**
 * The columns that a patch sets.
 * @throws {ApiError} VALIDATION_ERROR for an invalid origin or time zone
 */
export function toChange(patch: Static<typeof OrganizationPatch>): OrganizationChange {
  const { name, autoPublish, earlyPlayback, defaultProtected, allowedOrigins, timeZone } = patch;
  const { requireSignedViewers } = patch;
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    throw fieldError('timeZone', 'must be an IANA time zone name such as Europe/Berlin');
  }
  for (const [index, origin] of (allowedOrigins ?? []).entries()) {
    checkOrigin(origin, `allowedOrigins[${index}]`);
  }
  return {
    ...(name !== undefined && { name }),
    ...(autoPublish !== undefined && { auto_publish: autoPublish }),
    ...(earlyPlayback !== undefined && { early_playback: earlyPlayback }),
    ...(defaultProtected !== undefined && { default_protected: defaultProtected }),
    ...(allowedOrigins !== undefined && { allowed_origins: allowedOrigins }),
    ...(timeZone !== undefined && { time_zone: timeZone }),
    ...(requireSignedViewers !== undefined && { require_signed_viewers: requireSignedViewers }),
  };
}

/** Requires an origin exactly as browsers send it, since it is compared as a string. */
function checkOrigin(origin: string, path: string): void {
  const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin;
  if (!isOrigin) throw fieldError(path, 'must be an origin such as https://app.example.com');
}
