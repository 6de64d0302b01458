/**
 * A seccomp filter for the media child. It denies system calls that exploits use and decoders don't
 * need. It is a denylist rather than an allowlist, because Node's own needs change between
 * versions. A denied call fails with EPERM.
 *
 * System call numbers are from `asm/unistd.h`, instructions from `linux/filter.h`, return values
 * from `linux/seccomp.h`.
 */
import { existsSync } from 'node:fs';
import { arch } from 'node:os';
import { fileURLToPath } from 'node:url';

type CallNumbers = {
  /** `AUDIT_ARCH_…`; system call numbers differ between architectures. */
  readonly architecture: number;
  readonly prctl: number;
  /** Denied calls: sockets, other processes' memory, rare kernel interfaces, keys, modules. */
  readonly refused: readonly number[];
  /** Mount and namespace calls, which the stronger cage itself needs. */
  readonly namespaces: readonly number[];
};

/**
 * In both lists: socket, connect, bind, listen, accept, accept4, ptrace, process_vm_readv,
 * process_vm_writev, bpf, perf_event_open, keyctl, add_key, request_key, userfaultfd,
 * io_uring_setup, kexec_load, init_module, finit_module, delete_module, reboot, open_by_handle_at;
 * then mount, umount2, pivot_root, chroot, unshare, setns.
 */
const NUMBERS: Partial<Record<string, CallNumbers>> = {
  x64: {
    architecture: 0xc000003e,
    prctl: 157,
    refused: [
      41, 42, 49, 50, 43, 288, 101, 310, 311, 321, 298, 250, 248, 249, 323, 425, 246, 175, 313, 176,
      169, 304,
    ],
    namespaces: [165, 166, 155, 161, 272, 308],
  },
  arm64: {
    architecture: 0xc00000b7,
    prctl: 167,
    refused: [
      198, 203, 200, 201, 202, 242, 117, 270, 271, 280, 241, 219, 217, 218, 282, 425, 104, 105, 273,
      106, 142, 265,
    ],
    namespaces: [40, 39, 41, 51, 97, 268],
  },
};

const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
/** SECCOMP_RET_ERRNO with EPERM. */
const REFUSE = 0x00050001;
/** Offsets in `struct seccomp_data`. */
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
/** Calls of the x32 ABI have this bit set and would bypass the list. */
const X32_BIT = 0x40000000;

const PERL = '/usr/bin/perl';
const SCRIPT = fileURLToPath(new URL('./child/seccomp.pl', import.meta.url));

/** One `struct sock_filter`; jump offsets count from the next instruction. */
function instruction(code: number, k: number, ifTrue = 0, ifFalse = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(k, 4);
  return bytes;
}

function filter(architecture: number, refused: readonly number[]): Buffer {
  const toRefusal = (index: number): number => refused.length - index;
  return Buffer.concat([
    instruction(LOAD_WORD, ARCHITECTURE_OFFSET),
    instruction(JUMP_IF_EQUAL, architecture, 0, refused.length + 3),
    instruction(LOAD_WORD, NUMBER_OFFSET),
    instruction(JUMP_IF_AT_LEAST, X32_BIT, refused.length + 1),
    ...refused.map((number, index) => instruction(JUMP_IF_EQUAL, number, toRefusal(index))),
    instruction(RETURN, ALLOW),
    instruction(RETURN, REFUSE),
  ]);
}

/**
 * The command prefix that runs another command under the filter, or null if the filter is
 * unavailable: another system or architecture, or no Perl.
 */
export function seccompCommand(needsNamespaces: boolean): readonly [string, ...string[]] | null {
  const numbers = process.platform === 'linux' ? NUMBERS[arch()] : undefined;
  if (numbers === undefined || !existsSync(PERL)) return null;
  const refused = needsNamespaces ? numbers.refused : [...numbers.refused, ...numbers.namespaces];
  const program = filter(numbers.architecture, refused);
  return [PERL, SCRIPT, String(numbers.prctl), program.toString('hex')];
}
