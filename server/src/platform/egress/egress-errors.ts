/** Failures of outgoing requests, by the stage at which they happened. */

export type EgressFailure =
  | 'invalid_url'
  | 'blocked_address'
  | 'dns_error'
  | 'connection_refused'
  | 'connection_error'
  | 'tls_error'
  | 'timeout'
  | 'protocol_error'
  | 'too_large'
  | 'too_many_redirects';

/**
 * An outgoing request that got no usable response. `failure` is stable and suitable for users. The
 * message names the target as the caller gave it, and never an address it resolved to.
 */
export class EgressError extends Error {
  override readonly name: string = 'EgressError';
  readonly failure: EgressFailure;
  /** The status of a response whose body was cut off. */
  statusCode: number | null = null;

  constructor(failure: EgressFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

/** The target is, or resolves to, an address that isn't public. Nothing was sent. */
export class BlockedAddressError extends EgressError {
  override readonly name = 'BlockedAddressError';
  readonly host: string;
  readonly port: number;
  /** For the log only: showing it to users would reveal the internal DNS. */
  readonly address: string;

  constructor(target: { host: string; port: number; address: string }) {
    super('blocked_address', `${target.host} does not resolve to a public address`);
    this.host = target.host;
    this.port = target.port;
    this.address = target.address;
  }
}

/** Codes of Node, c-ares, OpenSSL and undici that their prefixes don't classify. */
const failureByCode: Readonly<Record<string, EgressFailure>> = {
  ECONNREFUSED: 'connection_refused',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'protocol_error',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'protocol_error',
  ENOTFOUND: 'dns_error',
  ENODATA: 'dns_error',
  ESERVFAIL: 'dns_error',
  EAI_AGAIN: 'dns_error',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_error',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_error',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_error',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_error',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_error',
  HOSTNAME_MISMATCH: 'tls_error',
  EPROTO: 'tls_error',
};

/** Converts the reason of a failed request to an `EgressError`; `host` is for the message. */
export function asEgressError(error: unknown, host: string): EgressError {
  if (error instanceof EgressError) return error;
  const failure = classify(error);
  return new EgressError(failure, `${failure.replaceAll('_', ' ')}: ${host}`, error);
}

function classify(error: unknown): EgressFailure {
  if (!(error instanceof Error)) return 'connection_error';
  // If every address of a host failed, the errors are bundled; the first one represents them.
  if (error instanceof AggregateError && error.errors.length > 0) return classify(error.errors[0]);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const known = failureByCode[code];
  if (known !== undefined) return known;
  if (/^(ERR_TLS|ERR_SSL|CERT_|CRL_)/.test(code)) return 'tls_error';
  if (error.name === 'HTTPParserError') return 'protocol_error';
  if (error.name === 'TimeoutError') return 'timeout';
  return 'connection_error';
}
