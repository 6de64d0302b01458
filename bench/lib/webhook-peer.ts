/**
 * A process that sends as one peer. Its argument is the name of the peer, and the first line of
 * standard input is its options. It prints "ready" and then answers each input line with one line of
 * JSON: `cpu` with the CPU microseconds it has used, `latency` with pairs of title and commit time of
 * deliveries that it commits itself. It exits at the end of its input.
 */
import { createInterface } from 'node:readline';
import { commitSlowly } from './webhook-latencies.ts';
import { openPeer, type PeerName, type PeerOptions } from './webhook-peers.ts';

const lines = createInterface(process.stdin)[Symbol.asyncIterator]();
const { value: first } = (await lines.next()) as { value: string };
const name = process.argv[2] as PeerName;
const peer = await openPeer(name, { ...(JSON.parse(first) as PeerOptions), sends: true });
console.log('"ready"');
for await (const line of { [Symbol.asyncIterator]: () => lines }) {
  if (line === 'latency') console.log(JSON.stringify(await commitSlowly(peer, name)));
  else {
    const { user, system } = process.cpuUsage();
    console.log(String(user + system));
  }
}
process.exit();
