/** All drivers behind one: the destination of a webhook says which one sends. */
import type { Egress } from '../../../../platform/egress/egress.ts';
import { Connections } from './connections.ts';
import type { Driver, Target } from './driver.ts';
import type { Destination } from './destination.ts';
import { httpsDriver } from './https.ts';
import { natsDriver, type NatsStream } from './nats.ts';
import { Tokens } from './oauth.ts';
import { rabbitDriver, type RabbitChannel } from './rabbitmq.ts';
import { s3Driver } from './s3.ts';

export type Drivers = AsyncDisposable & { readonly send: Driver };

/** Disposing closes every connection to a broker. */
export function createDrivers(egress: Egress): Drivers {
  const streams = new Connections<NatsStream>();
  const channels = new Connections<RabbitChannel>();
  const parts = { egress };
  const drivers: {
    readonly [Type in Destination['type']]: Driver<Extract<Destination, { type: Type }>>;
  } = {
    https: httpsDriver(parts, new Tokens(egress)),
    nats: natsDriver(parts, streams),
    rabbitmq: rabbitDriver(parts, channels),
    s3: s3Driver(parts),
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
