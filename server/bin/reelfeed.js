#!/usr/bin/env node
// Starts the command line with the Node that the `node` package has installed. This file is plain
// JavaScript because the `node` that runs it may be too old for TypeScript.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const leastMajor = 24;
// What `npm start` sets: Node and malloc let less garbage lie about than they do by themselves.
const require = createRequire(import.meta.url);
const { flags, env } = require('./node-runtime.json');

/** The running Node where it is new enough, else the installed one; undefined where there is none. */
function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= leastMajor) return process.execPath;
  try {
    const folder = path.dirname(require.resolve('node/package.json'));
    const installed = path.join(folder, 'bin/node');
    return existsSync(installed) ? installed : undefined;
  } catch {
    return undefined;
  }
}

function start(node) {
  const script = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
  const child = spawn(node, [...flags, script, ...process.argv.slice(2)], {
    env: { ...env, ...process.env },
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('error', (error) => {
    process.stderr.write(`${node} can't be run: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (os.constants.signals[signal] ?? 0);
  });
}

const node = findNode();
if (node === undefined) {
  process.stderr.write(
    `Reelfeed needs Node ${leastMajor}; this is ${process.version}. Run npm ci: it installs one.\n`,
  );
  process.exitCode = 1;
} else {
  start(node);
}
