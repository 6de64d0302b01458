/**
 * A seccomp filter for the media child: system calls that no decoder needs and that exploits do. It
 * is a list of what is refused and not of what is allowed, because Node's own needs change with its
 * versions. A refused call answers EPERM.
 *
 * Numbers are of `asm/unistd.h`, instructions of `linux/filter.h`, return values of `linux/seccomp.h`.
 */
import { existsSync } from 'node:fs';
import { arch } from 'node:os';
import { fileURLToPath } from 'node:url';

type CallNumbers = {
  /** `AUDIT_ARCH_…`: the numbers mean other calls on another architecture. */
  readonly architecture: number;
  readonly prctl: number;
  /** Sockets, other processes' memory, the kernel's less tried doors, keys, modules. */
  readonly refused: readonly number[];
  /** Mounts and namespaces, which the stronger cage itself needs. */
  readonly namespaces: readonly number[];
};

/**
 * In both: socket, connect, bind, listen, accept, accept4, ptrace, process_vm_readv,
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
/** Calls of the x32 interface have this bit and would pass by the list. */
const X32_BIT = 0x40000000;

const PERL = '/usr/bin/perl';
const SCRIPT = fileURLToPath(new URL('./child/seccomp.pl', import.meta.url));

/** One `struct sock_filter`; jumps count instructions from the next one on. */
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
 * The program and its first arguments that start a command, which is appended, under the filter; null
 * where it cannot be reached: another system or processor, or no Perl.
 */
export function seccompCommand(needsNamespaces: boolean): readonly [string, ...string[]] | null {
  const numbers = process.platform === 'linux' ? NUMBERS[arch()] : undefined;
  if (numbers === undefined || !existsSync(PERL)) return null;
  const refused = needsNamespaces ? numbers.refused : [...numbers.refused, ...numbers.namespaces];
  const program = filter(numbers.architecture, refused);
  return [PERL, SCRIPT, String(numbers.prctl), program.toString('hex')];
}
