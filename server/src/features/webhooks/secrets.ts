/** Signing secrets between the database, where they are sealed, and the sender. */
import type { Vault } from '../../platform/vault.ts';
import { signingKey, type SigningKey, type SigningKeys } from './signing.ts';

/** Binds a sealed secret to its webhook: it opens nowhere else. */
export function secretContext(organizationId: string, webhookId: string): string {
  return `webhook secret ${organizationId} ${webhookId}`;
}

const mostRemembered = 10_000;

/** Opens secrets, and remembers them by their sealed bytes: the next delivery needs them again. */
export function createSecretReader(vault: Vault) {
  const remembered = new Map<string, SigningKey>();
  const open = (sealed: Buffer, context: string): SigningKey => {
    const name = sealed.toString('latin1');
    const known = remembered.get(name);
    if (known !== undefined) return known;
    const key = signingKey(vault.open(sealed, context));
    // Secrets are few beside deliveries, so starting over is rare and cheap.
    if (remembered.size >= mostRemembered) remembered.clear();
    remembered.set(name, key);
    return key;
  };
  /** @throws Error when a secret was sealed with another key */
  return (
    context: string,
    sealed: { current: Buffer; previous: readonly Buffer[] },
  ): SigningKeys => ({
    current: open(sealed.current, context),
    previous: sealed.previous.map((one) => open(one, context)),
  });
}

export type SecretReader = ReturnType<typeof createSecretReader>;
