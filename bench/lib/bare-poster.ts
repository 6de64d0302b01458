/**
 * A process that posts a body to a URL with plain undici over keep-alive connections until time is
 * up. Arguments: URL, file of the body, connections, seconds. Prints the posts per second, after
 * one second of warm-up in which connections open and V8 compiles hot code.
 */
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

const [url = '', bodyFile = '', connections = '64', seconds = '3'] = process.argv.slice(2);
const body = readFileSync(bodyFile);
const target = new URL(url);
const pool = new Pool(target.origin, { connections: Number(connections) });
const headers = { 'content-type': 'application/json' };
const warmUpMs = 1_000;
let posted = 0;
const startedAt = performance.now() + warmUpMs;
const endsAt = startedAt + Number(seconds) * 1_000;

async function post(): Promise<void> {
  while (performance.now() < endsAt) {
    const answer = await pool.request({ method: 'POST', path: target.pathname, headers, body });
    await answer.body.dump();
    if (performance.now() >= startedAt) posted += 1;
  }
}

await Promise.all(Array.from({ length: Number(connections) }, post));
process.stdout.write(`${(posted / (performance.now() - startedAt)) * 1_000}\n`);
await pool.close();
