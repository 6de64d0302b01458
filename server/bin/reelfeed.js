#!/usr/bin/env node
// Starts the command line with the Node that the `node` package installed. This file is plain
// JavaScript because the `node` that runs it may be too old for TypeScript.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const minMajor = 24;
const MB = 2 ** 20;

/** An eighth of the memory of the machine or its control group, between 512 MB and 4 GB. */
function maxHeapMegabytes() {
  const limitBytes = process.constrainedMemory();
  const memoryBytes = limitBytes > 0 ? Math.min(limitBytes, os.totalmem()) : os.totalmem();
  return Math.round(Math.min(4_096, Math.max(512, memoryBytes / 8 / MB)));
}

/** Node options, except those set in NODE_OPTIONS, which takes precedence. */
function nodeOptions() {
  const options = {
    '--disable-warning': 'ExperimentalWarning',
    // A larger young generation uses more memory without making requests faster.
    '--max-semi-space-size': '8',
    '--max-old-space-size': String(maxHeapMegabytes()),
  };
  const given = (process.env['NODE_OPTIONS'] ?? '').replaceAll('_', '-').split(/[\s=]+/);
  return Object.entries(options)
    .filter(([name]) => name === '--disable-warning' || !given.includes(name))
    .map(([name, value]) => `${name}=${value}`);
}

/**
 * The running Node if it is new enough, otherwise the installed one; undefined if there is neither.
 */
function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= minMajor) return process.execPath;
  try {
    const require = createRequire(import.meta.url);
    const folder = path.dirname(require.resolve('node/package.json'));
    const installed = path.join(folder, 'bin/node');
    return existsSync(installed) ? installed : undefined;
  } catch {
    return undefined;
  }
}

function start(node) {
  const script = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
  const args = [...nodeOptions(), script, ...process.argv.slice(2)];
  // With more arenas, malloc holds on to memory that many threads have freed.
  const env = { MALLOC_ARENA_MAX: '2', ...process.env };
  // The service replaces this process, so signals and exit codes need no forwarding.
  if (process.execve !== undefined) process.execve(node, [node, ...args], env);
  startChild(node, args, env);
}

/** Used if this Node cannot replace its own process. */
function startChild(node, args, env) {
  const child = spawn(node, args, { env, stdio: 'inherit' });
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
    `Reelfeed needs Node ${minMajor}; this is ${process.version}. Run npm install node@${minMajor}, or in a ` +
      'clone npm ci, which installs one; where install scripts were skipped, run npm rebuild.\n',
  );
  process.exitCode = 1;
} else {
  start(node);
}
