import { createReelfeed, EventSender } from '@reelfeed/client';

const service = {
  baseUrl: process.env.REELFEED ?? 'http://localhost:4000',
  publishableKey: process.env.PUBLISHABLE_KEY ?? '',
  userId: 'ada',
};

const { items } = await createReelfeed(service).feed({ limit: 10 });
const [item] = items;
if (item === undefined) throw new Error('The feed is empty.');
console.log(item.id, item.title, item.streamingUrl);

const events = new EventSender(service);
events.track({ event: 'impression', contentId: item.id, data: { position: 0 } });
events.track({ event: 'playStart', contentId: item.id, data: { startupTime: 180 } });
events.track({ event: 'like', contentId: item.id });
await events.close();
