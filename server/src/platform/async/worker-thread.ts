/** A thread that answers each message with exactly one message. */
import { once } from 'node:events';
import { parentPort, Worker } from 'node:worker_threads';

export type WorkerThread<Input, Output> = AsyncDisposable & {
  /**
   * Sends a message and waits for the answer. @throws the thread's error, or the signal's reason
   */
  ask(input: Input): Promise<Output>;
};

/**
 * Starts a thread, which ends when it is disposed of. @param file a module that answers each
 * message
 */
export function startWorkerThread<Input, Output>(
  file: URL,
  signal: AbortSignal,
): WorkerThread<Input, Output> {
  const worker = new Worker(file);
  const failed = Promise.withResolvers<never>();
  // The next call of `ask` reports it.
  failed.promise.catch(() => undefined);
  worker.on('error', failed.reject);
  worker.on('exit', (code) => failed.reject(new Error(`a thread ended early with code ${code}`)));
  const abort = () => failed.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  return {
    async ask(input) {
      signal.throwIfAborted();
      const answered = once(worker, 'message') as Promise<[Output]>;
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- of windows, not of threads
      worker.postMessage(input);
      const [output] = await Promise.race([answered, failed.promise]);
      return output;
    },
    async [Symbol.asyncDispose]() {
      signal.removeEventListener('abort', abort);
      await worker.terminate();
    },
  };
}

/**
 * Runs in the thread and answers each message. An error of `answer` ends the thread and is thrown
 * by `ask`.
 */
export function answerMessages(answer: (input: never) => unknown): void {
  parentPort?.on('message', (input) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- of windows, not of threads
    parentPort?.postMessage(answer(input as never));
  });
}
