import { FFmpegError } from 'node-av/lib';
import { AVERROR_EAGAIN, AVERROR_EOF, AVERROR_INVALIDDATA } from 'node-av/constants';

/** An error code returned by an FFmpeg call. */
export class EngineError extends Error {
  readonly operation: string;
  readonly engineCode: number;

  constructor(operation: string, engineCode: number) {
    super(`${operation}: ${FFmpegError.strerror(engineCode)}`);
    this.name = 'EngineError';
    this.operation = operation;
    this.engineCode = engineCode;
  }

  /** Whether FFmpeg attributes the error to the input data. */
  get isInvalidData(): boolean {
    return this.engineCode === AVERROR_INVALIDDATA;
  }
}

/** Returns a non-negative result; throws {@link EngineError} otherwise. */
export function check(engineCode: number, operation: string): number {
  if (engineCode < 0) throw new EngineError(operation, engineCode);
  return engineCode;
}

/**
 * Throws if the FFmpeg build lacks a component. The package is pinned, so this means that the
 * installation is broken.
 */
export function required<T>(part: T | null | undefined, name: string): T {
  if (part === null || part === undefined) throw new Error(`The media engine lacks ${name}.`);
  return part;
}

/**
 * Interprets the result of a `receive` call. True for a frame or packet; false if more input is
 * needed or the end is reached.
 */
export function received(engineCode: number, operation: string): boolean {
  if (engineCode === AVERROR_EAGAIN || engineCode === AVERROR_EOF) return false;
  check(engineCode, operation);
  return true;
}
