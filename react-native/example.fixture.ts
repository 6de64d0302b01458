/** The example app as built by Expo, for tests that run it. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const example = fileURLToPath(new URL('example', import.meta.url));

/** Why the example's tests are skipped, or null if it is installed. */
export const whyNotInstalled = existsSync(`${example}/node_modules/.installed`)
  ? null
  : 'the example app is not installed: `npm run test:native` installs it and runs these tests';

/** Runs a program that the example has installed. Throws with its output if it fails. */
export async function runInExample(
  program: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const options = {
    cwd: example,
    maxBuffer: 64 * 2 ** 20,
    env: { ...process.env, CI: '1', EXPO_OFFLINE: '1', EXPO_NO_TELEMETRY: '1', ...env },
  };
  try {
    const script = path.join(example, 'node_modules/.bin', program);
    const { stdout } = await promisify(execFile)(script, args, options);
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
};

/** Serves a folder built by Expo from a separate origin. Returns its address. */
export async function serveApp(folder: string): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const file = path.join(folder, pathname === '/' ? 'index.html' : path.normalize(pathname));
    readFile(file).then(
      (bytes) =>
        response
          .setHeader('content-type', types[path.extname(file)] ?? 'application/octet-stream')
          .end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
