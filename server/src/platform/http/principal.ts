import type { FastifyRequest } from 'fastify';
import type { ApiKeyId, OrganizationId } from '../ids.ts';
import { ApiError } from './errors.ts';

/** The caller of a request, identified by its key. */
export type Principal = {
  organizationId: OrganizationId;
  keyId: ApiKeyId;
  /** Shared by a key and its successors by rotation. */
  family: string;
  type: 'secret' | 'publishable';
  /** The scopes that the key is limited to. Null: no limit beyond its type. */
  scopes: readonly string[] | null;
  /** Requests in any 60 seconds; null: no limit. */
  rateLimit: number | null;
  /** Origins whose pages may read answers; empty means every origin. */
  allowedOrigins: readonly string[];
};

/** Who may call a route. `public` routes take no key at all. */
export type Access = 'secret' | 'publishable' | 'public';

/** Finds the principal of a bearer token. @throws ApiError of status 401 */
export type Authenticate = (bearer: string | null) => Promise<Principal>;

/**
 * Counts a request against the key's rate limit and returns the headers that report it. Null
 * without a limit.
 */
export type Admit = (principal: Principal) => Promise<Record<string, string>> | null;

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
    /** Authenticates the request again, for long-lived responses. @throws ApiError of status 401 */
    reauthenticate: (() => Promise<Principal>) | null;
  }
  interface FastifyContextConfig {
    /** Required on every route: adding one without it fails the start. */
    access?: Access;
    /** The scope that it needs, where path and method do not say it. */
    scope?: string;
    /**
     * Pages call it by `sendBeacon`: a publishable key may be given as `?key=`, since no header can
     * be, and the browser asks for CORS with credentials.
     */
    takesBeacons?: true;
    /** The route reads its body itself, for as long as bytes keep coming. */
    streamsBody?: true;
    /** How the API description documents such a body, by Content-Type. */
    describedBody?: Record<string, { schema: object }>;
    /** The handler refuses NUL and lone surrogates itself, item by item. */
    checksText?: boolean;
    /** How it documents a streamed answer without a schema, by Content-Type. */
    describedStream?: Record<string, { schema: object }>;
  }
}

/** The principal of a route whose access is not `public`. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new ApiError('UNAUTHORIZED');
  return request.principal;
}
