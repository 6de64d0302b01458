import type { Scheme } from '../../../../platform/egress/messages.ts';

/** Destinations besides HTTPS, without their URLs and secrets. */
export type NatsDestination = {
  readonly type: 'nats';
  readonly subject: string;
  readonly username?: string;
};

export type RabbitDestination = {
  readonly type: 'rabbitmq';
  /** Empty for the default exchange, where the routing key is a queue name. */
  readonly exchange: string;
  readonly routingKey: string;
  readonly username?: string;
};

export type S3Destination = {
  readonly type: 's3';
  readonly bucket: string;
  readonly region: string;
  readonly prefix: string;
  readonly accessKeyId: string;
};

export type HttpsDestination = { readonly type: 'https' };

export type Destination = HttpsDestination | NatsDestination | RabbitDestination | S3Destination;

export const https: HttpsDestination = { type: 'https' };

/** Allowed URL schemes per destination. The second of two is without TLS. */
export const schemesOf: Readonly<Record<Destination['type'], readonly Scheme[]>> = {
  https: ['https:'],
  nats: ['tls:', 'nats:'],
  rabbitmq: ['amqps:', 'amqp:'],
  s3: ['https:'],
};

/** Credentials for a receiver; stored encrypted and never returned. */
export type Credentials = {
  /** A password for NATS and RabbitMQ, a token for NATS only, or the secret access key for S3. */
  readonly destination?: { readonly password?: string; readonly token?: string };
  /** PEM. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
  readonly oauth?: { readonly clientSecret: string };
};

export type OAuth = {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly scope?: string;
  readonly audience?: string;
};

/** Public facts of a client certificate. */
export type CertificateFacts = {
  readonly subject: string;
  /** SHA-256, as printed by `openssl x509 -fingerprint`. */
  readonly fingerprint: string;
  readonly expiresAt: string;
};
