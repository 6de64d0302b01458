/** The settings of single sign-on and their consistency checks. */
import {
  choice,
  list,
  optional,
  text,
  type Parser,
} from '../../../platform/settings/config-values.ts';
import { roles, type Role } from '../../../platform/http/roles.ts';
import { parseTypeId, type OrganizationId } from '../../../platform/values/ids.ts';
import {
  ConfigurationError,
  setting,
  type SettingValues,
} from '../../../platform/settings/settings.ts';

/** The organization for addresses of a domain; null means the oldest organization. */
export type Domain = { readonly domain: string; readonly organizationId: OrganizationId | null };
export type MappedRole = { readonly value: string; readonly role: Role };

/** Requires HTTPS, or HTTP on this machine: an attacker in between could sign in as anyone. */
export function issuerUrl(): Parser<string> {
  const problem = 'an https URL without a query, such as https://login.example.com/realms/main';
  return (raw) => {
    const url = URL.parse(raw.trim());
    if (url === null || /[?#]/.test(raw) || url.username !== '') return { problem };
    const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
    return isSafe ? { value: raw.trim() } : { problem };
  };
}

export function isLoopback({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

export function domains(): Parser<readonly Domain[]> {
  const problem = 'a comma list of domains, such as example.com or example.com=org_…';
  return (raw) => {
    const found: Domain[] = [];
    for (const [name, id] of pairs(raw)) {
      const domain = name.toLowerCase();
      const organizationId = id === null ? null : parseTypeId('org', id);
      if (!/^[^\s@=]+\.[^\s@=.]+$/.test(domain)) return { problem };
      if (id !== null && organizationId === null) return { problem };
      found.push({ domain, organizationId });
    }
    return { value: found };
  };
}

export function mappedRoles(): Parser<readonly MappedRole[]> {
  const problem = `a comma list such as staff=viewer, with the roles ${roles.join(', ')}`;
  return (raw) => {
    const found: MappedRole[] = [];
    for (const [value, name] of pairs(raw)) {
      const role = roles.find((one) => one === name);
      if (value === '' || role === undefined) return { problem };
      found.push({ value, role });
    }
    return { value: found };
  };
}

/** Splits at the last `=`, because group names may contain others. */
function pairs(raw: string): [string, string | null][] {
  return raw
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.lastIndexOf('=');
      return at < 0 ? [part, null] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    });
}

export const singleSignOnSettings = {
  oidcIssuer: setting({
    env: 'REELFEED_OIDC_ISSUER',
    parse: optional(issuerUrl()),
    fallback: '',
    about: 'Provider of single sign-on (OpenID Connect), by its issuer URL. Empty: none.',
  }),
  oidcClientId: setting({
    env: 'REELFEED_OIDC_CLIENT_ID',
    parse: optional(text()),
    fallback: '',
    about: 'The id that the provider of single sign-on knows this installation by.',
  }),
  oidcClientSecret: setting({
    env: 'REELFEED_OIDC_CLIENT_SECRET',
    parse: optional(text()),
    fallback: '',
    secret: true,
    about: 'The secret for that id. Empty: a public client, which PKCE alone protects.',
  }),
  oidcName: setting({
    env: 'REELFEED_OIDC_NAME',
    parse: text(),
    fallback: 'single sign-on',
    about: 'What the sign-in page calls the provider.',
  }),
  oidcScopes: setting({
    env: 'REELFEED_OIDC_SCOPES',
    parse: list(),
    fallback: 'openid,email,profile',
    about: 'The scopes that the provider is asked for.',
  }),
  oidcDomains: setting({
    env: 'REELFEED_OIDC_DOMAINS',
    parse: domains(),
    fallback: '',
    about:
      'Domains of addresses that may sign in, each with its organization: `example.com=org_…`; without one it is the oldest organization. Empty: any address that has an account or an invitation.',
  }),
  oidcDefaultRole: setting({
    env: 'REELFEED_OIDC_DEFAULT_ROLE',
    parse: optional(choice(roles)),
    fallback: '',
    about:
      'The role of those who sign in for the first time with an address of these domains. Empty: only those who were invited get in, unless a claim gives the role.',
  }),
  oidcRoleClaim: setting({
    env: 'REELFEED_OIDC_ROLE_CLAIM',
    parse: text(),
    fallback: 'groups',
    about: 'The claim that `REELFEED_OIDC_ROLES` looks at: a text or a list of texts.',
  }),
  oidcRoles: setting({
    env: 'REELFEED_OIDC_ROLES',
    parse: mappedRoles(),
    fallback: '',
    about:
      'Roles by the values of that claim, such as `staff=viewer,video-team=editor`. The highest one holds, and is set at each sign-in; without any, sign-in is refused. Empty: roles are given in Reelfeed.',
  }),
  oidcEmails: setting({
    env: 'REELFEED_OIDC_EMAILS',
    parse: choice(['verified', 'all']),
    fallback: 'verified',
    about:
      'Which addresses count: those that the provider calls `verified`, or `all`, for a provider that never says so and where administrators alone set addresses.',
  }),
  oidcOnly: setting({
    env: 'REELFEED_OIDC_ONLY',
    parse: choice(['on', 'off']),
    fallback: 'off',
    about: 'Whether people sign in by single sign-on alone, and no more with passwords.',
  }),
};

export type SingleSignOnConfig = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly domains: readonly Domain[];
  readonly defaultRole: Role | null;
  readonly roleClaim: string;
  readonly roles: readonly MappedRole[];
  readonly needsVerified: boolean;
  readonly isOnly: boolean;
};

/**
 * Returns null without a provider.
 * @throws {ConfigurationError} for inconsistent settings
 */
export function toSingleSignOn(
  settings: SettingValues<typeof singleSignOnSettings>,
): SingleSignOnConfig | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcDomains, oidcRoles } = settings;
  const isOnly = settings.oidcOnly === 'on';
  if (issuer === null) {
    if (isOnly) throw new ConfigurationError('REELFEED_OIDC_ONLY needs REELFEED_OIDC_ISSUER.');
    return null;
  }
  if (clientId === null) {
    throw new ConfigurationError('REELFEED_OIDC_ISSUER needs REELFEED_OIDC_CLIENT_ID.');
  }
  const givesRoles = oidcRoles.length > 0 || settings.oidcDefaultRole !== null;
  if (givesRoles && oidcDomains.length === 0) {
    throw new ConfigurationError(
      'REELFEED_OIDC_ROLES and REELFEED_OIDC_DEFAULT_ROLE need REELFEED_OIDC_DOMAINS, which says whom they are for.',
    );
  }
  return {
    issuer,
    clientId,
    clientSecret: settings.oidcClientSecret,
    name: settings.oidcName,
    scopes: [...new Set(['openid', ...settings.oidcScopes])],
    domains: oidcDomains,
    defaultRole: settings.oidcDefaultRole,
    roleClaim: settings.oidcRoleClaim,
    roles: oidcRoles,
    needsVerified: settings.oidcEmails === 'verified',
    isOnly,
  };
}
