/**
 * Verifies requests by AWS Signature Version 4, from its published description and without the
 * client's code:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-auth-using-authorization-header.html
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export type Credentials = { accessKeyId: string; secretAccessKey: string };

const maxSkewMs = 15 * 60_000;

type Claim = {
  credential: string;
  signedHeaders: string[];
  signature: string;
  date: string;
  payloadHash: string;
  expiresMs: number;
  isInUrl: boolean;
};

/** @returns the required hash of the body, or null if it isn't signed */
export function checkSignature(
  request: IncomingMessage,
  credentials: Credentials,
): { refusal: string } | { payloadHash: string | null } {
  const url = new URL(request.url ?? '/', 'http://server');
  const claim = claimInUrl(url) ?? claimInHeaders(request);
  if (claim === null) return { refusal: 'AccessDenied' };
  const [accessKeyId, day, region, service, end] = claim.credential.split('/');
  if (accessKeyId !== credentials.accessKeyId) return { refusal: 'InvalidAccessKeyId' };
  const time = parseTime(claim.date);
  if (!claim.isInUrl && Math.abs(Date.now() - time) > maxSkewMs) {
    return { refusal: 'RequestTimeTooSkewed' };
  }
  if (claim.isInUrl && (Date.now() > time + claim.expiresMs || time > Date.now() + maxSkewMs)) {
    return { refusal: 'AccessDenied' };
  }
  const scope = [day, region, service, end].join('/');
  const text = ['AWS4-HMAC-SHA256', claim.date, scope, sha256(canonical(request, url, claim))];
  const key = [day, region, service, end].reduce<Buffer>(
    (parent, part) => hmac(parent, part ?? ''),
    Buffer.from(`AWS4${credentials.secretAccessKey}`),
  );
  const expected = hmac(key, text.join('\n'));
  const given = Buffer.from(claim.signature, 'hex');
  const isRight = given.length === expected.length && timingSafeEqual(given, expected);
  if (!isRight || service !== 's3') return { refusal: 'SignatureDoesNotMatch' };
  return { payloadHash: claim.payloadHash === 'UNSIGNED-PAYLOAD' ? null : claim.payloadHash };
}

function claimInUrl({ searchParams: query }: URL): Claim | null {
  if (query.get('X-Amz-Algorithm') !== 'AWS4-HMAC-SHA256') return null;
  return {
    credential: query.get('X-Amz-Credential') ?? '',
    signedHeaders: (query.get('X-Amz-SignedHeaders') ?? '').split(';'),
    signature: query.get('X-Amz-Signature') ?? '',
    date: query.get('X-Amz-Date') ?? '',
    payloadHash: 'UNSIGNED-PAYLOAD',
    expiresMs: Number(query.get('X-Amz-Expires')) * 1_000,
    isInUrl: true,
  };
}

function claimInHeaders({ headers }: IncomingMessage): Claim | null {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]+)$/;
  const [, credential, signedHeaders, signature] = form.exec(headers.authorization ?? '') ?? [];
  if (credential === undefined || signedHeaders === undefined || signature === undefined) {
    return null;
  }
  return {
    credential,
    signedHeaders: signedHeaders.split(';'),
    signature,
    date: String(headers['x-amz-date']),
    payloadHash: String(headers['x-amz-content-sha256']),
    expiresMs: 0,
    isInUrl: false,
  };
}

function canonical(request: IncomingMessage, url: URL, claim: Claim): string {
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted();
  const headers = claim.signedHeaders.map(
    (name) => `${name}:${String(request.headers[name]).trim().replaceAll(/ +/g, ' ')}\n`,
  );
  return [
    request.method,
    url.pathname,
    query.join('&'),
    headers.join(''),
    claim.signedHeaders.join(';'),
    claim.payloadHash,
  ].join('\n');
}

/** Encodes by RFC 3986, which escapes more characters than `encodeURIComponent`. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function parseTime(date: string): number {
  const form = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
  return Date.parse(date.replace(form, '$1-$2-$3T$4:$5:$6Z'));
}

export function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
