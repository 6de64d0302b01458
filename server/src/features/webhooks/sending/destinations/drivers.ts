/** Combines all drivers: the webhook's destination selects the one that sends. */
import type { Egress } from '../../../../platform/egress/egress.ts';
import { Connections } from './connections.ts';
import type { Driver, Target } from './driver.ts';
import type { Destination } from './destination.ts';
import { httpsDriver } from './https.ts';
import type { NatsStream } from './nats.ts';
import { Tokens } from './oauth.ts';
import type { RabbitChannel } from './rabbitmq.ts';

export type Drivers = AsyncDisposable & { readonly send: Driver };

/** Disposing closes all broker connections. */
export function createDrivers(egress: Egress): Drivers {
  const streams = new Connections<NatsStream>();
  const channels = new Connections<RabbitChannel>();
  const parts = { egress };
  const drivers: {
    readonly [Type in Destination['type']]: Driver<Extract<Destination, { type: Type }>>;
  } = {
    https: httpsDriver(parts, new Tokens(egress)),
    nats: onDemand(async () => (await import('./nats.ts')).natsDriver(parts, streams)),
    rabbitmq: onDemand(async () => (await import('./rabbitmq.ts')).rabbitDriver(parts, channels)),
    s3: onDemand(async () => (await import('./s3.ts')).s3Driver(parts)),
  };
  return {
    send(target, message, options) {
      const driver: Driver<never> = drivers[target.destination.type];
      return driver(target as Target<never>, message, options);
    },
    async [Symbol.asyncDispose]() {
      await streams[Symbol.asyncDispose]();
      await channels[Symbol.asyncDispose]();
    },
  };
}

/** Loads a driver and its client library with the first message, since few services need one. */
function onDemand<To extends Destination>(load: () => Promise<Driver<To>>): Driver<To> {
  let driver: Promise<Driver<To>> | null = null;
  return async (...call) => {
    driver ??= load();
    return (await driver)(...call);
  };
}
