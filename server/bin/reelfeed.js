#!/usr/bin/env node
// Starts the command line with the Node that the `node` package has installed. This file is plain
// JavaScript because the `node` that runs it may be too old for TypeScript.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const newEnough = Number(process.versions.node.split('.')[0]) >= 24;
const installed = path.join(
  path.dirname(createRequire(import.meta.url).resolve('node/package.json')),
  'bin/node',
);
const node = newEnough || !existsSync(installed) ? process.execPath : installed;
const script = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const child = spawn(
  node,
  ['--disable-warning=ExperimentalWarning', script, ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => child.kill(signal));
}
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 1 : 128);
});
