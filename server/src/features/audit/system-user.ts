import { userInfo } from 'node:os';

/** The operating system account of this process: its name, or its number if it has none. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // Containers often run under a number without an account.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
