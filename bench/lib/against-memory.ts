import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from './load.ts';
import { median } from './report.ts';
import { freePort, type BenchService } from './service.ts';

const staticScript = fileURLToPath(new URL('./static-route.ts', import.meta.url));
const rounds = 5;
const secondsEach = 3;
const connections = 16;

export type AgainstMemory = {
  perSecond: number;
  memoryPerSecond: number;
  /** Median over the rounds of route ÷ memory, measured alternately. */
  ratio: number;
  bytes: number;
  failures: number;
};

/** Requests per second of a route, as a ratio to a bare route that sends the same bytes. */
export async function againstMemory(
  service: BenchService,
  target: string,
  key: string,
): Promise<AgainstMemory> {
  const url = `${service.url}${target}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  const body = await answer.text();
  const file = path.join(service.dataDir, 'bench-body.json');
  await writeFile(file, body);
  const port = await freePort();
  const memory = spawn(process.execPath, [staticScript, String(port), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(memory.stdout, 'data');
    const routeRates: number[] = [];
    const memoryRates: number[] = [];
    let failures = 0;
    for (let round = -1; round < rounds; round += 1) {
      const route = await load({ url, key, connections, seconds: secondsEach });
      const bare = await load({
        url: `http://127.0.0.1:${port}/`,
        connections,
        seconds: secondsEach,
      });
      // The first round warms both up.
      if (round < 0) continue;
      routeRates.push(route.perSecond);
      memoryRates.push(bare.perSecond);
      failures += route.failures;
    }
    return {
      perSecond: median(routeRates),
      memoryPerSecond: median(memoryRates),
      ratio: median(routeRates.map((rate, index) => rate / (memoryRates[index] ?? Number.NaN))),
      bytes: Buffer.byteLength(body),
      failures,
    };
  } finally {
    memory.kill('SIGTERM');
    await once(memory, 'exit');
  }
}
