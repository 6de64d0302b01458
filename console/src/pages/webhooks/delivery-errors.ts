/** Readable descriptions of delivery error codes. */
const meanings: Readonly<Record<string, string>> = {
  timeout: 'no response in time',
  connection_refused: 'the connection was refused',
  connection_error: 'the connection was interrupted',
  dns_error: 'the host name is not known',
  tls_error: 'the certificate or the TLS connection is not valid',
  blocked_address: 'the address is not allowed',
  protocol_error: 'the response is not HTTP',
  rejected: 'the destination rejected it',
  token_error: 'no token from the OAuth server',
};

/** `HTTP 500`, or why there was no response. */
export function meaningOf(error: string | null | undefined): string {
  if (error === null || error === undefined) return 'no answer';
  return meanings[error] ?? error.replace(/^http_/, 'HTTP ');
}
