/** Reads the server's standard error, and passes it on to the service's logger. */
import type { Level, Logger } from 'pino';

const TAIL_LINES = 25;
const LONGEST_LINE_CHARS = 2_000;
/** The lines of a message are written in one call, but may arrive in pieces. */
const FURTHER_LINES_MS = 100;

/** Written by log_line_prefix '%b[%p] %e ', then the severity. */
const LINE =
  /^(?<backend>[^[]+)\[(?<pid>\d+)\] (?<sqlState>\w{5}) (?<severity>[A-Z]+\d?): {2}(?<message>.*)$/;

/**
 * The log lines of one server. `tail` is the part that an operator needs to see if the server
 * doesn't start.
 */
export class ServerLog {
  readonly #log: Logger;
  readonly #tail: string[] = [];
  #unfinished = '';
  #level: Level = 'debug';
  /** A message that may still get continuation lines, which PostgreSQL indents with a tab. */
  #message: { fields: object; lines: string[] } | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Adds the next piece of text, which may end in the middle of a line. */
  write(text: string): void {
    const lines = (this.#unfinished + text).split('\n');
    this.#unfinished = (lines.pop() ?? '').slice(0, LONGEST_LINE_CHARS);
    for (const line of lines) this.#line(line.slice(0, LONGEST_LINE_CHARS));
  }

  /** The last lines, oldest first. */
  get tail(): string {
    return [...this.#tail, this.#unfinished].join('\n').trim();
  }

  #line(line: string): void {
    if (line === '') return;
    if (this.#tail.push(line) > TAIL_LINES) this.#tail.shift();
    const { backend, pid, sqlState, severity, message } = LINE.exec(line)?.groups ?? {};
    if (severity === undefined || message === undefined) {
      if (this.#message !== null && line.startsWith('\t')) {
        this.#message.lines.push(line.slice(1));
        return;
      }
      // The dynamic loader writes such lines before the server starts.
      this.#finish();
      this.#log[this.#level](line.trim());
      return;
    }
    this.#finish();
    // Details and hints follow their message and have the same level.
    this.#level = levelOf(severity, sqlState ?? '', message) ?? this.#level;
    this.#message = { fields: { backend, pid: Number(pid), sqlState, severity }, lines: [message] };
    this.#timer = setTimeout(() => this.#finish(), FURTHER_LINES_MS).unref();
  }

  /** Logs the lines of the current message as one line. */
  #finish(): void {
    clearTimeout(this.#timer);
    if (this.#message === null) return;
    const { fields, lines } = this.#message;
    this.#message = null;
    this.#log[this.#level](fields, lines.join('\n').slice(0, LONGEST_LINE_CHARS));
  }
}

/**
 * In the service's log, ERROR means that a person must act: the server gave up, or the disk is full
 * or broken. The error of a statement is reported to its sender, so here it is only a detail.
 */
function levelOf(severity: string, sqlState: string, message: string): Level | undefined {
  switch (severity) {
    case 'PANIC':
      return 'error';
    case 'FATAL':
    case 'ERROR':
      // Classes XX and 58: damaged data and failed system calls; 53100: disk full.
      if (/^(XX|58)/.test(sqlState) || sqlState === '53100') return 'error';
      // Class 57: the server is starting, stopping, or was told to end the session.
      return severity === 'FATAL' && !sqlState.startsWith('57') ? 'warn' : 'debug';
    case 'WARNING':
      return 'warn';
    case 'LOG':
      // If a server process dies, the server ends all sessions and recovers.
      return /was terminated by signal|reinitializing|automatic recovery/.test(message)
        ? 'warn'
        : 'debug';
    case 'DETAIL':
    case 'HINT':
    case 'CONTEXT':
    case 'QUERY':
    case 'STATEMENT':
      return undefined;
    default:
      return 'debug';
  }
}
