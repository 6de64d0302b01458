import type { Scheme } from '../../../../platform/egress/messages.ts';

/** Where deliveries go besides HTTPS: what a webhook says of it, apart from its URL and its secrets. */
export type NatsDestination = {
  readonly type: 'nats';
  readonly subject: string;
  readonly username?: string;
};

export type RabbitDestination = {
  readonly type: 'rabbitmq';
  /** Empty: the default exchange, where the routing key is the name of a queue. */
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

/** The schemes that the URL of a webhook may have. The second of two is without TLS. */
export const schemesOf: Readonly<Record<Destination['type'], readonly Scheme[]>> = {
  https: ['https:'],
  nats: ['tls:', 'nats:'],
  rabbitmq: ['amqps:', 'amqp:'],
  s3: ['https:'],
};

/** What a receiver must be shown; it is kept encrypted and never answered. */
export type Credentials = {
  /** For NATS and RabbitMQ a password, for NATS alone a token, for S3 the secret access key. */
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

/** What is known of a client certificate without its key. */
export type ClientCertificate = {
  readonly subject: string;
  /** SHA-256, as `openssl x509 -fingerprint` prints it. */
  readonly fingerprint: string;
  readonly expiresAt: string;
};
