import type { Usage } from './process-usage.ts';

/** A waiting process uses less than this share of a core for its timers. */
const BUSY_SHARE = 0.1;

/**
 * Counts how long a process has made no progress through its own fault: CPU time that it used, and
 * time in which it was not waiting for the CPU or a disk. On an overloaded machine, neither grows
 * fast, no matter how late the process is.
 */
export class Standstill {
  #work = -1;
  #seenMs: number | null = null;
  #cpuMs = 0;
  #busyMs = 0;
  #idleMs = 0;

  /** Reports a count that grows with every packet and frame. */
  sawWork(work: number): void {
    if (work <= this.#work) return;
    this.#work = work;
    this.#busyMs = 0;
    this.#idleMs = 0;
  }

  /**
   * Busy and idle time since the last progress, in milliseconds. Without usage data, all of it is
   * idle.
   */
  inspect(nowMs: number, usage: Usage | null): { busyMs: number; idleMs: number } {
    const elapsedMs = nowMs - (this.#seenMs ?? nowMs);
    this.#seenMs = nowMs;
    const usedMs = usage === null ? 0 : Math.max(0, usage.cpuMs - this.#cpuMs);
    this.#cpuMs = usage?.cpuMs ?? this.#cpuMs;
    if (usage !== null && (usage.isHeldUp || usedMs > elapsedMs * BUSY_SHARE)) {
      this.#busyMs += usedMs;
    } else {
      this.#idleMs += elapsedMs;
    }
    return { busyMs: this.#busyMs, idleMs: this.#idleMs };
  }
}
