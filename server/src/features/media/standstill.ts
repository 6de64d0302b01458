import type { Usage } from './process-usage.ts';

/** Less than this share of a core is the timer of a process that waits. */
const BUSY_SHARE = 0.1;

/**
 * Counts how long a process has brought nothing forward, as its own doing: CPU time that it used, and
 * time in which it waited for nothing that the machine could give. On a machine with too much to do
 * neither grows fast, however late it gets.
 */
export class Standstill {
  #work = -1;
  #seenMs: number | null = null;
  #cpuMs = 0;
  #busyMs = 0;
  #idleMs = 0;

  /** Takes note of a count that grows with every packet and frame. */
  sawWork(work: number): void {
    if (work <= this.#work) return;
    this.#work = work;
    this.#busyMs = 0;
    this.#idleMs = 0;
  }

  /** Time since the last work, busy and idle, in milliseconds. Without a usage all of it is idle. */
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
