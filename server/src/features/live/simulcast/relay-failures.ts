/** Messages for a stream's owner when a simulcast fails. */
import { EgressError, type EgressFailure } from '../../../platform/egress/egress-errors.ts';
import { RtmpError } from '../rtmp/rtmp-error.ts';

const sentences: Partial<Record<EgressFailure, string>> = {
  blocked_address: 'The host does not resolve to a public address.',
  dns_error: 'The host name cannot be resolved.',
  connection_refused: 'The server refuses connections.',
  timeout: 'The server does not respond.',
  tls_error: 'The certificate of the server is not valid.',
};
const maxLength = 300;

/** One sentence that does not reveal the addresses of a host. */
export function sentenceOf(error: unknown): string {
  if (error instanceof EgressError) {
    return sentences[error.failure] ?? 'The connection to the server failed.';
  }
  if (!(error instanceof RtmpError)) return 'The connection to the server failed.';
  const text = error.message
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, maxLength);
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
