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

/**
 * Requires HTTPS, or HTTP on this machine, because an attacker in between could sign in as anyone.
 */
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
  const problem = 'a comma-separated list of domains, such as example.com or example.com=org_…';
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
  const problem = `a comma-separated list such as staff=viewer, with the roles ${roles.join(', ')}`;
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

/** Splits at the last `=`, because group names may contain `=`. */
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
    about: 'Issuer URL of the single sign-on provider (OpenID Connect). Empty: none.',
  }),
  oidcClientId: setting({
    env: 'REELFEED_OIDC_CLIENT_ID',
    parse: optional(text()),
    fallback: '',
    about: 'Client id of this installation at the single sign-on provider.',
  }),
  oidcClientSecret: setting({
    env: 'REELFEED_OIDC_CLIENT_SECRET',
    parse: optional(text()),
    fallback: '',
    secret: true,
    about: 'Client secret. Empty: a public client, protected only by PKCE.',
  }),
  oidcName: setting({
    env: 'REELFEED_OIDC_NAME',
    parse: text(),
    fallback: 'single sign-on',
    about: 'Name of the provider on the sign-in page.',
  }),
  oidcScopes: setting({
    env: 'REELFEED_OIDC_SCOPES',
    parse: list(),
    fallback: 'openid,email,profile',
    about: 'Scopes to request from the provider.',
  }),
  oidcDomains: setting({
    env: 'REELFEED_OIDC_DOMAINS',
    parse: domains(),
    fallback: '',
    about:
      'Email domains that may sign in, each with its organization: `example.com=org_…`. Without an organization, the oldest one is used. Empty: any address that has an account or an invitation.',
  }),
  oidcDefaultRole: setting({
    env: 'REELFEED_OIDC_DEFAULT_ROLE',
    parse: optional(choice(roles)),
    fallback: '',
    about:
      'Role of people who sign in for the first time with an address of these domains. Empty: only invited people can sign in, unless a claim gives the role.',
  }),
  oidcRoleClaim: setting({
    env: 'REELFEED_OIDC_ROLE_CLAIM',
    parse: text(),
    fallback: 'groups',
    about: 'The claim that `REELFEED_OIDC_ROLES` maps: a string or a list of strings.',
  }),
  oidcRoles: setting({
    env: 'REELFEED_OIDC_ROLES',
    parse: mappedRoles(),
    fallback: '',
    about:
      'Roles by value of that claim, such as `staff=viewer,video-team=editor`. The highest role applies and is set at each sign-in; without one, sign-in is rejected. Empty: roles are managed in Reelfeed.',
  }),
  oidcEmails: setting({
    env: 'REELFEED_OIDC_EMAILS',
    parse: choice(['verified', 'all']),
    fallback: 'verified',
    about:
      'Which addresses to accept: those that the provider marks as `verified`, or `all`, for a provider that never marks them and where only administrators set addresses.',
  }),
  oidcOnly: setting({
    env: 'REELFEED_OIDC_ONLY',
    parse: choice(['on', 'off']),
    fallback: 'off',
    about: 'Whether people can sign in only by single sign-on and no longer with passwords.',
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
    if (isOnly) throw new ConfigurationError('REELFEED_OIDC_ONLY requires REELFEED_OIDC_ISSUER.');
    return null;
  }
  if (clientId === null) {
    throw new ConfigurationError('REELFEED_OIDC_ISSUER requires REELFEED_OIDC_CLIENT_ID.');
  }
  const givesRoles = oidcRoles.length > 0 || settings.oidcDefaultRole !== null;
  if (givesRoles && oidcDomains.length === 0) {
    throw new ConfigurationError(
      'REELFEED_OIDC_ROLES and REELFEED_OIDC_DEFAULT_ROLE require REELFEED_OIDC_DOMAINS, which defines whom they apply to.',
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
