import { FFmpegError } from 'node-av/lib';
import { AVERROR_EAGAIN, AVERROR_EOF, AVERROR_INVALIDDATA } from 'node-av/constants';

/** A call into FFmpeg that answered with an error code. */
export class EngineError extends Error {
  readonly operation: string;
  readonly engineCode: number;

  constructor(operation: string, engineCode: number) {
    super(`${operation}: ${FFmpegError.strerror(engineCode)}`);
    this.name = 'EngineError';
    this.operation = operation;
    this.engineCode = engineCode;
  }

  /** True where FFmpeg blames the bytes it was given. */
  get isInvalidData(): boolean {
    return this.engineCode === AVERROR_INVALIDDATA;
  }
}

/** Passes a non-negative answer on and throws {@link EngineError} for the rest. */
export function check(engineCode: number, operation: string): number {
  if (engineCode < 0) throw new EngineError(operation, engineCode);
  return engineCode;
}

/** Throws when FFmpeg has no such part; the package is pinned, so this is a broken installation. */
export function required<T>(part: T | null | undefined, name: string): T {
  if (part === null || part === undefined) throw new Error(`The media engine lacks ${name}.`);
  return part;
}

/**
 * Reads the answer of a `receive` call: true for a frame or packet, false when more input is
 * needed or the end is reached.
 */
export function received(engineCode: number, operation: string): boolean {
  if (engineCode === AVERROR_EAGAIN || engineCode === AVERROR_EOF) return false;
  check(engineCode, operation);
  return true;
}
