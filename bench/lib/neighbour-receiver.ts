/**
 * A process with two HTTPS receivers, a good one that also serves bad paths and one only for bad
 * paths, and a port whose TLS handshakes hang. Arguments: files of key and certificate. Prints the
 * three ports. `GET /arrivals` returns the deliveries to good paths since the last call, as pairs
 * of event title and arrival time; `GET /used` returns the CPU time and the number of requests to
 * bad paths.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import {
  answerBadly,
  badAnswerOf,
  startSilentPort,
} from '../../server/test/webhooks/neighbours.ts';

const [keyFile = '', certificateFile = ''] = process.argv.slice(2);
const options = { key: readFileSync(keyFile), cert: readFileSync(certificateFile) };
let arrivals: [string, number][] = [];
let bad = 0;
let cpuBefore = process.cpuUsage();

function used(): { cpu: number; bad: number } {
  const { user, system } = process.cpuUsage(cpuBefore);
  const answer = { cpu: (user + system) / 1_000, bad };
  cpuBefore = process.cpuUsage();
  bad = 0;
  return answer;
}

async function start(): Promise<number> {
  const server = createServer(options, (request, response) => {
    if (request.method === 'GET') {
      response.end(JSON.stringify(request.url === '/used' ? used() : arrivals));
      if (request.url !== '/used') arrivals = [];
      return;
    }
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const badly = badAnswerOf(request.url);
      if (badly !== null) {
        bad += 1;
        answerBadly(badly, request, response);
        return;
      }
      if (request.url === '/prompt') {
        bad += 1;
        response.writeHead(204).end();
        return;
      }
      const { data } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
        data: { title: string };
      };
      arrivals.push([data.title, performance.timeOrigin + performance.now()]);
      response.writeHead(204).end();
    });
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const ports = [await start(), await start(), (await startSilentPort()).port];
process.stdout.write(`${ports.join(' ')}\n`);
