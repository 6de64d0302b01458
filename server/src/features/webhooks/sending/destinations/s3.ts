/**
 * The S3 driver: each delivery is an object named by day and delivery id, so that a repeat
 * overwrites it. The request is signed here and sent like any other webhook's.
 */
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { LRUCache } from 'lru-cache';
import { connectionName } from './connections.ts';
import type { S3Destination } from './destination.ts';
import type { Driver, DriverParts, Message, Target } from './driver.ts';

const maxAnswerBytes = 65_536;
const validForS = 300;
const maxClients = 500;

export function s3Driver({ egress }: DriverParts): Driver<S3Destination> {
  const clients = new LRUCache<string, S3Client>({ max: maxClients });
  return async (target, message, { timeoutMs, signal, onBegin }) => {
    const name = connectionName(target);
    const client = clients.get(name) ?? openClient(target);
    clients.set(name, client);
    const answer = await egress.request(
      {
        url: await signedUrl(client, target.destination, message),
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
    return { statusCode, retryAfter: headers['retry-after'], body, headers };
  };
}

/** Only signs requests and holds no connection. */
function openClient({ url, destination, credentials }: Target<S3Destination>): S3Client {
  const { region, accessKeyId } = destination;
  const secretAccessKey = credentials.destination?.password ?? '';
  return new S3Client({
    endpoint: new URL(url).origin,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
}

async function signedUrl(
  client: S3Client,
  { bucket, prefix }: S3Destination,
  message: Message,
): Promise<string> {
  const command = new PutObjectCommand({
    Bucket: bucket,
    Key: objectKey(prefix, message),
    ContentType: 'application/json',
  });
  return getSignedUrl(client, command, { expiresIn: validForS });
}

/** For example, `events/2026-01-31/content.ready/dlv_….json`. */
function objectKey(prefix: string, { timestamp, kind, deliveryId }: Message): string {
  return `${prefix}${timestamp.slice(0, 10)}/${kind}/${deliveryId}.json`;
}
