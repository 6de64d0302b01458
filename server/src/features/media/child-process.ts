import { spawn, type ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { cagedNode, findCage, type CageContents, type CagedCommand } from './cage.ts';
import { MediaError } from './media-error.ts';
import { usageOfTree } from './process-usage.ts';
import { Standstill } from './standstill.ts';
import { ChildMessageSchema, type ChildMessage, type MediaTask } from './tasks.ts';

/** Limits of a task, all enforced by killing the child. */
export type MediaTaskLimits = {
  /** Maximum duration of the whole task. */
  readonly deadlineMs: number;
  /** Maximum time without a packet or frame; see `Standstill` for how it is counted. */
  readonly stallMs: number;
  /** Maximum resident set size of the child. */
  readonly memoryLimitBytes: number;
  /** Niceness of the child, from 0 (the default) to 19 (lowest priority). */
  readonly niceness?: number;
};

export type MediaTaskOptions = MediaTaskLimits & {
  /** Called with the completed fraction of the task, from 0 to 1. It never decreases. */
  readonly onProgress?: (fraction: number) => void;
  /** For tasks that accept further input while they run. */
  readonly talk?: Talk;
  readonly signal: AbortSignal;
};

/** Messages exchanged with the child besides its progress and result. */
export type Talk = {
  /** Called once the child has its task. Messages sent after the child has ended are dropped. */
  readonly opened: (say: (order: object) => void) => void;
  /** Called with each message from the child, which must be validated. */
  readonly heard: (message: unknown) => void;
};

const CHILD_SCRIPT = fileURLToPath(new URL('./child/main.ts', import.meta.url));
const MEMORY_CHECK_INTERVAL_MS = 250;
const LOG_TAIL_BYTES = 4096;
/** The child's JavaScript heap is almost empty, because frames are in native memory. */
const CHILD_HEAP_MB = 256;
/** Native calls of all stages run on these threads, and a stage must never wait for a free one. */
const CHILD_THREADS = 16;

/** Why the parent killed the child, or null if it did not. */
type KillReason = 'aborted' | 'deadline' | 'stall' | 'loop' | 'memory';

type Outcome = {
  readonly answer: Exclude<ChildMessage, { type: 'progress' }> | null;
  readonly killReason: KillReason | null;
  readonly exit: string;
  readonly logTail: string;
};

/**
 * A minimal environment. The service's own environment contains secrets, so none of it is passed
 * on.
 */
function childEnvironment(): NodeJS.ProcessEnv {
  return {
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    UV_THREADPOOL_SIZE: String(CHILD_THREADS),
  };
}

const CHILD_ARGUMENTS = [
  `--max-old-space-size=${CHILD_HEAP_MB}`,
  '--disable-warning=ExperimentalWarning',
  CHILD_SCRIPT,
];

/**
 * Lowers the priority of the child's session. With autogroup scheduling, Linux divides the CPU
 * between sessions first, and a process's own niceness counts only within its session.
 */
function lowerPriority({ pid }: ChildProcess, niceness: number): void {
  if (pid === undefined || niceness === 0) return;
  writeFile(`/proc/${pid}/autogroup`, String(niceness)).catch(() => {
    // Not Linux, autogroups are disabled, or the child has ended.
  });
}

function startChild({ file, args }: CagedCommand, workDir: string, niceness: number): ChildProcess {
  const child = spawn(file, [...args], {
    cwd: workDir,
    env: childEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Ctrl+C in a terminal must reach only the service, which stops its children in order.
    detached: true,
  });
  lowerPriority(child, niceness);
  return child;
}

function cageContents(task: MediaTask, workDir: string, deadlineMs: number): CageContents {
  const readable = 'sourcePath' in task ? [task.sourcePath] : [];
  if (task.type === 'transcribe') readable.push(task.modelPath);
  return { readable, writable: [workDir], cwd: workDir, deadlineMs };
}

/** Keeps only the last few kilobytes of FFmpeg's log. */
function collectLogTail(child: ChildProcess): () => string {
  let tail = Buffer.alloc(0);
  child.stderr?.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-LOG_TAIL_BYTES);
  });
  return () => tail.toString('utf8');
}

/** Kills the child when it exceeds its deadline, stalls or uses too much memory. */
class Watch {
  readonly #child: ChildProcess;
  readonly #options: MediaTaskOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #onAbort = (): void => this.#kill('aborted');
  readonly #standstill = new Standstill();
  #reportedBytes = 0;
  killReason: KillReason | null = null;

  constructor(child: ChildProcess, options: MediaTaskOptions) {
    this.#child = child;
    this.#options = options;
    this.#timers.push(
      setTimeout(() => this.#kill('deadline'), options.deadlineMs),
      setInterval(() => void this.#inspect(), MEMORY_CHECK_INTERVAL_MS),
    );
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  sawProgress(work: number, reportedBytes: number): void {
    this.#reportedBytes = reportedBytes;
    this.#standstill.sawWork(work);
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#options.signal.removeEventListener('abort', this.#onAbort);
  }

  async #inspect(): Promise<void> {
    const { memoryLimitBytes, stallMs } = this.#options;
    const usage = await usageOfTree(this.#child.pid);
    const { busyMs, idleMs } = this.#standstill.inspect(performance.now(), usage);
    if (busyMs > stallMs) this.#kill('loop');
    if (idleMs > stallMs) this.#kill('stall');
    if ((usage?.residentBytes ?? this.#reportedBytes) > memoryLimitBytes) this.#kill('memory');
  }

  #kill(reason: KillReason): void {
    this.killReason ??= reason;
    this.#child.kill('SIGKILL');
  }
}

/** Runs the child to completion. The process has been reaped by the time this resolves. */
async function runToEnd(
  task: MediaTask,
  workDir: string,
  options: MediaTaskOptions,
): Promise<Outcome> {
  const contents = cageContents(task, workDir, options.deadlineMs);
  const { niceness = 0 } = options;
  const args = [...CHILD_ARGUMENTS, String(niceness)];
  await using command = await cagedNode(await findCage(), args, contents);
  options.signal.throwIfAborted();
  const child = startChild(command, workDir, niceness);
  const logTail = collectLogTail(child);
  const watch = new Watch(child, options);
  let answer: Outcome['answer'] = null;
  let fraction = 0;
  child.on('message', (message: unknown) => {
    if (!Value.Check(ChildMessageSchema, message)) {
      options.talk?.heard(message);
      return;
    }
    if (message.type !== 'progress') {
      answer = message;
      return;
    }
    watch.sawProgress(message.work, message.residentBytes);
    fraction = Math.max(fraction, message.fraction);
    options.onProgress?.(fraction);
  });
  const exit = await new Promise<string>((resolve) => {
    child.on('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.on('error', (error) => resolve(error.message));
    child.send(task, (error) => {
      if (error !== null) child.kill('SIGKILL');
    });
    options.talk?.opened((order) => child.send(order, () => undefined));
  });
  watch.stop();
  return { answer, killReason: watch.killReason, exit, logTail: logTail() };
}

function failed(reason: string, { exit, killReason, logTail }: Outcome): MediaError {
  return new MediaError('PROCESSING_FAILED', reason, {
    detail: `${reason} (${exit})\n${logTail}`.trim(),
    retryable: true,
    isStandstill: killReason === 'stall',
  });
}

const KILL_MESSAGES: Record<Exclude<KillReason, 'aborted' | 'loop'>, string> = {
  deadline: 'Processing took longer than allowed.',
  stall: 'Processing stalled.',
  memory: 'Processing needed more memory than allowed.',
};

/**
 * Runs one task in its own process and returns its result, validated against `resultSchema`. The
 * child is gone when the promise settles.
 * @throws {MediaError} or the signal's reason if it is aborted
 */
export async function runInChild<T extends TSchema>(
  task: MediaTask,
  resultSchema: T,
  workDir: string,
  options: MediaTaskOptions,
): Promise<Static<T>> {
  options.signal.throwIfAborted();
  const outcome = await runToEnd(task, workDir, options);
  const { answer, killReason, logTail } = outcome;
  if (answer?.type === 'result') {
    if (Value.Check(resultSchema, answer.result)) return answer.result;
    throw failed('Processing returned an unusable result.', outcome);
  }
  if (answer?.type === 'failure') {
    const { code, message, detail, retryable } = answer;
    throw new MediaError(code, message, { detail: `${detail}\n${logTail}`.trim(), retryable });
  }
  if (killReason === 'aborted') throw options.signal.reason;
  // This much CPU time without a packet or frame is the file's fault, not a slow machine's.
  if (killReason === 'loop') {
    const detail = `no packet or frame in ${options.stallMs} ms of CPU time\n${logTail}`;
    throw new MediaError('CORRUPT_MEDIA', 'The file is damaged or incomplete.', { detail });
  }
  if (killReason !== null) throw failed(KILL_MESSAGES[killReason], outcome);
  throw failed('Processing ended unexpectedly.', outcome);
}
