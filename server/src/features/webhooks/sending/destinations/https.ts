/** The HTTPS driver, optionally with a client certificate or an OAuth token. */
import { OutdatedStateError } from '../../endpoints/endpoint-changes.ts';
import type { HttpsDestination } from './destination.ts';
import type { WebhookAnswer, Driver, DriverParts, Message, SendOptions, Target } from './driver.ts';
import type { Tokens } from './oauth.ts';

const maxAnswerBytes = 65_536;
/** Enough for the displayed part of a response after redaction. */
const keptAnswerBytes = 8_192;

export function httpsDriver({ egress }: DriverParts, tokens: Tokens): Driver<HttpsDestination> {
  return async (target, message, options) => {
    if (target.oauth === undefined) return post(target, message, options);
    const endsAt = performance.now() + options.timeoutMs;
    const left = () => ({ ...options, timeoutMs: Math.max(1, endsAt - performance.now()) });
    const first = await tokens.get(target, left());
    const sent = await post(target, authorized(message, first.token), left());
    const answer = { ...sent, secrets: [first.token] };
    if (answer.statusCode !== 401 || first.isNew) return answer;
    // The token was revoked early.
    tokens.forget(target, first.token);
    const { token } = await tokens.get(target, left());
    try {
      return { ...(await post(target, authorized(message, token), left())), secrets: [token] };
    } catch (error) {
      // The webhook has changed in the meantime, so the first response counts.
      if (error instanceof OutdatedStateError) return answer;
      throw error;
    }
  };

  async function post(
    { url, credentials, clientCertificate }: Target,
    { headers, body }: Message,
    { timeoutMs, signal, onBegin, isApart = false }: SendOptions,
  ): Promise<WebhookAnswer> {
    const secret = credentials.clientCertificate;
    const answer = await egress.request(
      {
        url,
        method: 'POST',
        headers,
        body,
        totalTimeoutMs: timeoutMs,
        maxBodyBytes: maxAnswerBytes,
        keptBodyBytes: keptAnswerBytes,
        isApart,
        onBegin,
        ...(clientCertificate !== undefined &&
          secret !== undefined && {
            clientCertificate: { id: clientCertificate.fingerprint, ...secret },
          }),
      },
      signal,
    );
    const { headers: received } = answer;
    return {
      statusCode: answer.status,
      retryAfter: received['retry-after'],
      body: answer.body,
      headers: received,
    };
  }
}

function authorized(message: Message, token: string): Message {
  const { authorization: _own, ...headers } = message.headers;
  return { ...message, headers: { ...headers, authorization: `Bearer ${token}` } };
}
