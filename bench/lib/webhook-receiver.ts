/**
 * A process: an HTTPS receiver that answers 204 at once. Arguments: files of key and certificate.
 * It prints its port. `GET /count` answers how many deliveries have come and when the latest did,
 * by the wall clock, and how many were left to hang; `GET /arrivals` answers the arrivals since the last such question, as pairs of
 * the event's title and the moment; they are kept from `GET /keep` on. What is posted below `/hang` is never answered nor counted.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

const [keyFile = '', certificateFile = ''] = process.argv.slice(2);
const options = { key: readFileSync(keyFile), cert: readFileSync(certificateFile) };
let count = 0;
let lastAt = 0;
let hanging = 0;
let arrivals: [string, number][] = [];
let keepsArrivals = false;

const server = createServer(options, (request, response) => {
  if (request.method === 'GET') {
    if (request.url === '/keep') keepsArrivals = true;
    response.end(JSON.stringify(request.url === '/count' ? { count, lastAt, hanging } : arrivals));
    if (request.url !== '/count') arrivals = [];
    return;
  }
  if (request.url?.startsWith('/hang') === true) {
    hanging += 1;
    request.resume();
    return;
  }
  let body = '';
  if (keepsArrivals) request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
  else request.resume();
  request.on('end', () => {
    count += 1;
    lastAt = now();
    if (keepsArrivals) {
      const { data } = JSON.parse(body) as { data: { title: string } };
      arrivals.push([data.title, lastAt]);
    }
    response.writeHead(204).end();
  });
});

/** Milliseconds of the wall clock with fractions, comparable between processes of a machine. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
