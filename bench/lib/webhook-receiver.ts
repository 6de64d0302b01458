/**
 * A process that runs an HTTPS receiver, which responds with 204 immediately. Arguments: files of
 * key and certificate. Prints its port. `GET /count` returns the number of deliveries, the wall
 * clock time of the latest one, and the number left hanging. `GET /arrivals` returns the arrivals
 * since the last call as pairs of event title and time, which are recorded after `GET /keep`.
 * Requests posted below `/hang` are never answered or counted.
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

/** Wall clock milliseconds with fractions, comparable between processes on one machine. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
