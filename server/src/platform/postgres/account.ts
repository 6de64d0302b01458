/**
 * The system account that PostgreSQL runs under. PostgreSQL refuses uid 0, and its files must
 * belong to the account that runs it:
 *
 * | service runs as | cluster belongs to | account                                              |
 * |-----------------|--------------------|------------------------------------------------------|
 * | ordinary user   | that user          | own                                                  |
 * | root            | an ordinary user   | dropped to that user                                 |
 * | root            | root               | namespace: root outside, an ordinary user inside;    |
 * |                 |                    | else dropped to an unprivileged user                 |
 *
 * The namespace needs neither a second account nor folder permissions, so it is root's first
 * choice.
 */
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { Invocation } from './run-program.ts';

export type Account =
  | { readonly kind: 'own' }
  | { readonly kind: 'namespace'; readonly innerUid: number; readonly innerGid: number }
  | { readonly kind: 'dropped'; readonly uid: number; readonly gid: number };

/** Returns a command that runs the program under the account, with the same pid as the child. */
export function invocationFor(account: Account, file: string, args: readonly string[]): Invocation {
  switch (account.kind) {
    case 'own':
      return { file, args };
    case 'namespace':
      return {
        file: 'unshare',
        args: [
          '--user',
          `--map-user=${account.innerUid}`,
          `--map-group=${account.innerGid}`,
          '--',
          file,
          ...args,
        ],
      };
    case 'dropped':
      return { file, args, uid: account.uid, gid: account.gid };
    default:
      return account satisfies never;
  }
}

export function describeAccount(account: Account): string {
  switch (account.kind) {
    case 'own':
      return 'the user who starts the service';
    case 'namespace':
      return 'root in a separate user namespace, where it is an ordinary user';
    case 'dropped':
      return `the unprivileged user ${account.uid}`;
    default:
      return account satisfies never;
  }
}

/** This process's user id; 0 is root. */
export function processUid(): number {
  if (!process.getuid) throw new Error('The embedded database requires a POSIX system.');
  return process.getuid();
}

/**
 * The accounts to try, best first, for a cluster that doesn't exist yet. Only trying shows whether
 * one really works: namespaces may be disabled, or folders may be inaccessible to it.
 */
export async function accountsForNewCluster(dataDirectory: string): Promise<readonly Account[]> {
  const users = await readUsers();
  const ordinary = users.find((user) => user.name === 'nobody') ?? users[0];
  const namespace: readonly Account[] = ordinary
    ? [{ kind: 'namespace', innerUid: ordinary.uid, innerGid: ordinary.gid }]
    : [];
  // initdb looks its user up by id. A container started with a bare uid has no such entry; the
  // namespace provides one, and the files belong to the same user either way.
  if (processUid() !== 0) return [{ kind: 'own' }, ...namespace];

  const dropped = (uid: number): readonly Account[] => {
    const user = users.find((candidate) => candidate.uid === uid);
    return user ? [{ kind: 'dropped', uid, gid: user.gid }] : [];
  };
  const owner = (await stat(dataDirectory)).uid;
  if (owner !== 0) return [...dropped(owner), ...namespace];
  const neighbour = await ordinaryOwnerAbove(dataDirectory);
  return [
    ...namespace,
    ...(neighbour === undefined ? [] : dropped(neighbour)),
    ...(ordinary && ordinary.uid !== neighbour ? dropped(ordinary.uid) : []),
  ];
}

/** The accounts to try, best first, for an existing cluster that belongs to the given user. */
export async function accountsForOwner(uid: number, gid: number): Promise<readonly Account[]> {
  const own = processUid();
  if (own !== 0) return own === uid ? [{ kind: 'own' }] : [];
  if (uid !== 0) return [{ kind: 'dropped', uid, gid }];
  const users = await readUsers();
  const ordinary = users.find((user) => user.name === 'nobody') ?? users[0];
  if (!ordinary) return [];
  return [
    { kind: 'namespace', innerUid: ordinary.uid, innerGid: ordinary.gid },
    { kind: 'dropped', uid: ordinary.uid, gid: ordinary.gid },
  ];
}

type User = {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
};

/** The ordinary users of /etc/passwd; empty if the file is missing. */
async function readUsers(): Promise<readonly User[]> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    if (!name || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return [];
    return Number(uid) > 0 ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}

/**
 * The owner of the nearest parent folder that root does not own. Only that user can traverse a
 * private home directory.
 */
async function ordinaryOwnerAbove(directory: string): Promise<number | undefined> {
  const parent = dirname(directory);
  if (parent === directory) return undefined;
  const { uid } = await stat(parent);
  return uid === 0 ? ordinaryOwnerAbove(parent) : uid;
}
