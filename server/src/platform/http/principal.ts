import type { FastifyRequest } from 'fastify';
import type { ApiKeyId, OrganizationId, PersonId, SessionId } from '../values/ids.ts';
import type { LimitedKind } from './address-limits.ts';
import type { Client } from './client-address.ts';
import { ApiError } from './errors.ts';
import type { Role } from './roles.ts';

/** The person behind a request from the console. */
export type SignedIn = {
  readonly personId: PersonId;
  readonly sessionId: SessionId;
  /** The person's role in the organization of the session. */
  readonly role: Role;
};

/** The caller of a request, identified by its key or by the session of a person. */
export type Principal = {
  organizationId: OrganizationId;
  /** The id of the key or person, for records of who did something. */
  callerId: ApiKeyId | PersonId;
  /** Null for a person. */
  keyId: ApiKeyId | null;
  /** Null for a key. */
  person: SignedIn | null;
  /** Shared by a key and its successors by rotation; for a person, the person's id. */
  family: string;
  /** People may call the same routes as secret keys, as far as their role allows. */
  type: 'secret' | 'publishable';
  /** The scopes that the key or the role is limited to. Null if only its type limits it. */
  scopes: readonly string[] | null;
  /** Maximum requests in any 60 seconds; null for no limit. */
  rateLimit: number | null;
  /** Origins whose pages may read responses. Empty means every origin. */
  allowedOrigins: readonly string[];
};

/**
 * The callers that a route admits. `public` routes take no key at all; routes for a `person`
 * require a session of a signed-in person, with any role.
 */
export type Access = 'secret' | 'publishable' | 'public' | 'person';

export type KeyPrincipal = Principal & { keyId: ApiKeyId; person: null };

/**
 * Finds the principal of a bearer token.
 *
 * @throws ApiError with status 401
 */
export type Authenticate = (bearer: string | null) => Promise<KeyPrincipal>;

/**
 * Counts a request against the key's rate limit and returns the headers that report it, or null if
 * there is no limit.
 */
export type Admit = (principal: Principal) => Promise<Record<string, string>> | null;

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's address, as determined with the trusted proxies. */
    readonly client: Client;
    principal: Principal | null;
    /**
     * Authenticates the request again, for long-lived responses.
     *
     * @throws ApiError with status 401
     */
    reauthenticate: (() => Promise<Principal>) | null;
  }
  interface FastifyContextConfig {
    /** Required on every route: adding a route without it makes the start fail. */
    access?: Access;
    /** The scope that the route needs, if it does not follow from path and method. */
    scope?: string;
    /**
     * Rate limit by address for requests without a secret key; see address-limits.ts. Default:
     * `viewers` for routes that take a publishable key, otherwise `pages`.
     */
    limitedAs?: LimitedKind | 'nothing';
    /** The lowest role that may call the route, if it does not follow from the scope. */
    role?: Role;
    /**
     * Pages call the route with `sendBeacon`. A publishable key may be given as `?key=`, because
     * beacons cannot have headers and the browser requires CORS with credentials.
     */
    takesBeacons?: true;
    /** The route reads its body itself, for as long as bytes keep coming. */
    streamsBody?: true;
    /** Documentation of such a body in the API description, by Content-Type. */
    describedBody?: Record<string, { schema: object }>;
    /** The handler itself rejects NUL and lone surrogates, item by item. */
    checksText?: boolean;
    /** Documents a streamed response without a schema, by Content-Type. */
    describedStream?: Record<string, { schema: object }>;
  }
}

/** The principal of a route whose access is not `public`. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new ApiError('UNAUTHORIZED');
  return request.principal;
}
