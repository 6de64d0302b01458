/**
 * S3: each delivery is one object, named by the day and the delivery's id, so that a repeat replaces
 * it. The request is signed here and goes out like that of any other webhook.
 */
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { S3Destination } from './destination.ts';
import type { Driver, DriverParts, Message, Target } from './driver.ts';

const maxAnswerBytes = 65_536;
const validForS = 300;

export function s3Driver({ egress }: DriverParts): Driver<S3Destination> {
  return async (target, message, { timeoutMs, signal, onBegin }) => {
    const answer = await egress.request(
      {
        url: await signedUrl(target, message),
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: message.body,
        totalTimeoutMs: timeoutMs,
        maxBodyBytes: maxAnswerBytes,
        onBegin,
      },
      signal,
    );
    const { status: statusCode, headers, body } = answer;
    return { statusCode, retryAfter: headers['retry-after'], body };
  };
}

async function signedUrl(target: Target<S3Destination>, message: Message): Promise<string> {
  const { bucket, region, accessKeyId, prefix } = target.destination;
  const secretAccessKey = target.credentials.destination?.password ?? '';
  const client = new S3Client({
    endpoint: new URL(target.url).origin,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
  const command = new PutObjectCommand({
    Bucket: bucket,
    Key: objectKey(prefix, message),
    ContentType: 'application/json',
  });
  return getSignedUrl(client, command, { expiresIn: validForS });
}

/** Such as `events/2026-01-31/content.ready/dlv_….json`. */
function objectKey(prefix: string, { timestamp, kind, deliveryId }: Message): string {
  return `${prefix}${timestamp.slice(0, 10)}/${kind}/${deliveryId}.json`;
}
